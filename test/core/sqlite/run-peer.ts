import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PEER = fileURLToPath(new URL('peer.ts', import.meta.url))

export interface PeerResult {
  readonly sent: number
  readonly topics?: number
  readonly error?: string
}

/** Runs `peer.ts` as a process, through a shell when it shall be limited first (`ulimit …`). */
export function runPeer(args: readonly (string | number)[], limit = 'true'): Promise<PeerResult> {
  const node = [process.execPath, '--import', 'tsx', PEER, ...args.map(String)]
  const child = spawn('sh', ['-c', `${limit}; exec "$@"`, 'sh', ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => {
      const line = text.trim().split('\n').at(-1) ?? ''
      if (status !== 0 || !line.startsWith('{')) reject(new Error(`the peer ended with ${status}: ${text}`))
      else resolve(JSON.parse(line) as PeerResult)
    })
  })
}
