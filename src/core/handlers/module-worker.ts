import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { canRunTypeScript } from './module-file.ts'
import type { ThreadData } from './module-protocol.ts'

/** Starts the thread of a handler module. What it prints comes here, and not to the stdout of this process. */
export async function startWorker(workerData: ThreadData): Promise<{ worker: Worker; threadUrl: string }> {
  // The file knows itself where it is: beside this one in the sources, elsewhere in a build.
  const { threadUrl } = await import('./module-thread.ts')
  const isRunnable = !threadUrl.endsWith('.ts') || canRunTypeScript()
  const entry = new URL(isRunnable ? threadUrl : throughLoader(threadUrl))
  return { worker: new Worker(entry, { workerData, stdout: true, stderr: true }), threadUrl }
}

/**
 * Only the sources of rmq are TypeScript, and they are run by a loader. Before Node 22 a thread does not inherit that
 * one for its first file, so here that is a line of JavaScript that loads the loader.
 */
function throughLoader(threadUrl: string): string {
  const loader = pathToFileURL(createRequire(threadUrl).resolve('tsx/esm/api')).href.replace(/cjs$/, 'mjs')
  const script = `import { register } from '${loader}'\nregister()\nawait import('${threadUrl}')`
  return `data:text/javascript,${encodeURIComponent(script)}`
}
