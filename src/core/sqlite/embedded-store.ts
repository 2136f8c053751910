import type Database from 'better-sqlite3'
import type { Host, WakeUp } from './host.ts'
import { closeFile, type OpenFile, openFile } from './open.ts'
import { PlaceCheck } from './place-check.ts'
import type { Store, Write } from './store.ts'
import { Writer } from './writer.ts'

export interface EmbeddedStoreOptions {
  readonly path: string
  readonly durability: 'full' | 'normal'
  readonly host: Host
  /** False: where there is no file, an empty store in memory answers, and no file appears. */
  readonly create: boolean
}

/** Of a store in memory: nobody else can see it, and no signal file may appear. */
const NOBODY_TO_WAKE: WakeUp = { touch: () => {}, watch: () => () => {}, close: () => {} }

/** The open file with its writer. */
export class EmbeddedStore implements Store {
  readonly db: Database.Database
  readonly host: Host
  readonly path: string
  readonly livenessFolder: string
  readonly storeId: number
  readonly write: Write
  readonly #file: OpenFile
  readonly #writer: Writer
  readonly #place: PlaceCheck
  #closing: Promise<void> | undefined

  /** `onWake` hears of commits of this process that others were woken for; SQLite tells it only of those of others. */
  constructor(options: EmbeddedStoreOptions, onWake: () => void) {
    const { host, durability } = options
    const { runtime } = host
    this.#file = openFile({ ...options, runtime })
    const { db, path, identity, storeId } = this.#file
    this.#place = new PlaceCheck(path, identity, runtime)
    this.#writer = new Writer({
      db,
      path,
      runtime,
      durability,
      checkPlace: () => this.#place.checkAfterPause(),
      wake: () => {
        this.host.wakeUp.touch()
        onWake()
      },
    })
    this.db = db
    this.host = identity === undefined ? { ...host, wakeUp: NOBODY_TO_WAKE } : host
    this.path = path
    this.livenessFolder = `${path}.clients`
    this.storeId = storeId
    this.write = this.#writer.write
  }

  checkPlace(): void {
    this.#place.check()
  }

  /** Writes what waits, then closes the file. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#writer.close()
    this.host.wakeUp.close()
    closeFile(this.#file)
  }
}
