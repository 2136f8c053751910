import { zoneOf } from './arrows.ts'
import type { Import } from './imports.ts'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Groups of files that import each other at run time. */
export function fileCycles(imports: readonly Import[]): readonly string[] {
  const arrows = imports.filter((each) => !each.isExternal && !each.isTypeOnly)
  return describe(graphOf(arrows.map((each) => [each.from, each.to])))
}

/** Groups of zones that know each other, by types too: two folders that do are one folder. */
export function zoneCycles(imports: readonly Import[]): readonly string[] {
  const arrows = imports.filter((each) => !each.isExternal)
  const pairs = arrows.map((each): [string, string] => [nameOf(each.from), nameOf(each.to)])
  return describe(graphOf(pairs.filter(([from, to]) => from !== to)))
}

/** Schemas are a part of the model that stands in a zone of its own only because of zod. */
function nameOf(path: string): string {
  const zone = zoneOf(path) ?? path
  return zone === 'core/model/schemas' ? 'core/model' : zone
}

function graphOf(pairs: readonly (readonly [string, string])[]): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of pairs) {
    graph.set(from, (graph.get(from) ?? new Set()).add(to))
    if (!graph.has(to)) graph.set(to, new Set())
  }
  return graph
}

/** Nodes that reach each other belong together; a node alone counts when it points at itself. */
function describe(graph: Graph): readonly string[] {
  const reach = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]))
  const groups = new Map<string, string>()
  for (const [node, reached] of reach) {
    if (!reached.has(node)) continue
    const group = [...reached].filter((other) => reach.get(other)?.has(node)).sort()
    groups.set(group.join(' <-> '), node)
  }
  return [...groups.keys()].sort()
}

function reachableFrom(graph: Graph, start: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [...(graph.get(start) ?? [])]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    open.push(...(graph.get(node) ?? []))
  }
  return reached
}
