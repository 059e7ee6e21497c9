/** Gives tests the parts of which they compose a service in their own process: no journal, no second process, and a log that nobody reads. */
import type { BaseParts } from '../../src/compose/parts.ts'
import { systemIds } from '../../src/lib/id.ts'
import type { Storage } from '../../src/open-storage.ts'
import { logTo } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { testSeal } from './test-seal.ts'

type Opened = Pick<Storage, 'database' | 'owner' | 'secret'>

export const basePartsOf = (
  { database, owner, secret }: Opened,
  { clock, ...more }: Pick<BaseParts, 'clock'> & Partial<Omit<BaseParts, 'storage'>>,
): BaseParts => ({
  clock,
  cpuMs: () => 0,
  ids: systemIds,
  log: logTo(() => undefined, 'silent', clock),
  metrics: createMetrics(),
  storage: {
    database,
    secret,
    owner,
    rereadSecret: async () => secret,
    claimFirstStart: async () => false,
    address: async () => null,
    noteAddress: async () => undefined,
    forgetFirstStart: async () => undefined,
  },
  host: '127.0.0.1',
  memoryBytes: Number.POSITIVE_INFINITY,
  journal: null,
  startSettings: [],
  seal: testSeal,
  node: 'node',
  limitStore: null,
  redis: null,
  ...more,
})
