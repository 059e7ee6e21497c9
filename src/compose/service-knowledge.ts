/** Facts that the service knows about itself, for its operators. */
import { type ConfigFile, configLines } from '../config-file.ts'
import type { EffectiveSetting, ServiceKnowledge } from '../contract/service-facts.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { Engine } from '../storage/engine.ts'
import { fileSettings, withBytesInForce } from './effective-settings.ts'
import type { Nodes } from './nodes.ts'
import type { Reloadable } from './reloadable.ts'

export interface NotingKnowledge extends ServiceKnowledge {
  /** Why a configuration file was not accepted; null if it was. */
  noteConfigFault(sentence: string | null): void
}

export const createServiceKnowledge = (parts: {
  readonly clock: Clock
  readonly engine: Engine
  readonly node: string
  readonly nodes: Pick<Nodes, 'others'>
  readonly startSettings: readonly EffectiveSetting[]
  readonly reloadable: Reloadable
  readonly memoryBytes: number
  readonly configPath: string | null
}): NotingKnowledge => {
  const { clock, engine, node, nodes, reloadable, configPath } = parts
  const startedAt = isoTimestamp(clock.now())
  const ofFile = reloadable.built((file) => ({
    settings: [...parts.startSettings, ...fileSettings(file, configPath, configLines(configPath))],
    switches: switchesOf(file),
  }))
  let faults: readonly string[] = []
  return {
    engine,
    startedAt,
    processes: () => [
      { id: node, startedAt, seenAt: isoTimestamp(clock.now()) },
      ...nodes.others.map(({ id, ageMs }) => ({ id, startedAt: null, seenAt: isoTimestamp(clock.now() - ageMs) })),
    ],
    settings: () => withBytesInForce(ofFile().settings, reloadable.settings, parts.memoryBytes),
    switches: () => ofFile().switches,
    configErrors: () => faults,
    noteConfigFault(sentence) {
      faults = sentence === null ? [] : [sentence]
    },
  }
}

const switchesOf = ({ dashboard, sandbox, media }: ConfigFile): Readonly<Record<string, boolean>> => ({
  dashboard,
  sandbox,
  media_fetch: media.fetch,
})
