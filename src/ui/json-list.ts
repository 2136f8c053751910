import type { Output } from './output.ts'
import { escapeControlsInJson } from './text.ts'

/** One JSON document with one list in it, written item by item: its length is not bound by the memory. */
export async function writeJsonList<Item>(
  out: Output,
  name: string,
  items: AsyncIterable<Item>,
  toRecord: (item: Item) => unknown,
): Promise<void> {
  let before = `{${JSON.stringify(name)}:[`
  for await (const item of items) {
    const json = JSON.stringify(toRecord(item))
    await out.write(`${before}${out.terminal ? escapeControlsInJson(json) : json}`)
    before = ',\n'
  }
  await out.write(before === ',\n' ? ']}\n' : `${before}]}\n`)
}
