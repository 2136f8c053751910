/** A row of `message_<queue>` as it is stored: see `messageTableSql`. */
export type RawMessage = [
  offset: number,
  stored: number,
  age: number,
  key: string | null,
  tags: string | null,
  keys: string | null,
  properties: string | null,
  body: Buffer,
]
