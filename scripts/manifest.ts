import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Plugin } from '@oclif/core/config'

/** Writes the list of commands with their flags, so that a start need not load every command to know them. */
export async function writeManifest(root: string): Promise<void> {
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const plugin = new Plugin({
    root,
    pjson,
    name: pjson.name,
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  })
  await plugin.load()
  writeFileSync(join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
}
