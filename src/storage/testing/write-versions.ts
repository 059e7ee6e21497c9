/** A process that writes versions until it is killed, and prints the number and id of each acknowledged one. */
import { writeSync } from 'node:fs'

import { openDatabase } from '../open-database.ts'
import { preparePresets } from './preset-input.ts'

const [databaseUrl = '', dataDir = '', slug = ''] = process.argv.slice(2)
const database = await openDatabase({ databaseUrl: databaseUrl === '' ? null : databaseUrl, dataDir, exclusive: false, onError: () => {} })
const { create } = await preparePresets(database)

const writer = async (): Promise<never> => {
  for (;;) {
    const outcome = await create(slug)
    if (outcome.kind === 'created') {
      const { version, id } = outcome.preset.designated_version
      // Synchronous, so that whatever a reader has seen was acknowledged, and nothing waits in a buffer of ours.
      writeSync(1, `${version} ${id}\n`)
    }
  }
}
await Promise.all([writer(), writer(), writer(), writer()])
