/**
 * The columns of the playground. The address holds models and parameters, so that a link opens the same columns; it never holds texts or
 * tools.
 */
import { useMemo } from 'react'

import { useKept } from '../../kept.ts'
import { useOwnSearch } from '../../parts/use-own-search.ts'
import type { Search } from '../../search.ts'
import type { Column } from './answer-columns.tsx'
import { linkText, settingsInLink } from './link-settings.ts'

type Settings = Column['settings']

const MODELS = ['model', 'model2', 'model3', 'model4'] as const
type ModelName = (typeof MODELS)[number]

/** The parameter of the address that holds a column's own settings. */
const OWN: Readonly<Record<ModelName, string>> = { model: 'params', model2: 'params2', model3: 'params3', model4: 'params4' }
const SHARED = 'settings'
const NAMES = [SHARED, ...Object.values(OWN)]

type SettingsByName = Readonly<Record<string, Settings>>

const NONE: SettingsByName = {}

const openedAt = (address: string | undefined, kept: Settings = {}): Settings =>
  linkText(kept) === address ? kept : settingsInLink(address)

interface Columns {
  /** Settings of every column. */
  readonly shared: Settings
  readonly columns: readonly [Column, ...Column[]]
  readonly canAdd: boolean
  add(): void
  remove(index: number): void
  setShared(settings: Settings, more?: Search): void
  setModel(column: Column, model: string): void
  setOwn(column: Column, settings: Settings): void
}

export const useColumns = (): Columns => {
  const [search, setSearch] = useOwnSearch()
  // Settings that no address holds are kept here only. If the address has other parameters, somebody opened a link.
  const [kept, setKept] = useKept<SettingsByName>('playground settings', () => NONE)
  const settings = useMemo(() => Object.fromEntries(NAMES.map((name) => [name, openedAt(search[name], kept[name])])), [kept, search])
  const settingsOf = (name: string): Settings => settings[name] ?? {}
  const keep = (changed: SettingsByName, more: Search): void => {
    setKept({ ...settings, ...changed })
    setSearch({ ...more, ...Object.fromEntries(Object.entries(changed).map(([name, now]) => [name, linkText(now)])) })
  }
  const columnOf = (id: ModelName): Column => ({ id, model: search[id] ?? '', settings: settingsOf(OWN[id]) })
  const count = Math.max(1, Math.min(MODELS.length, Number(search['columns'] ?? 1) || 1))
  return {
    shared: settingsOf(SHARED),
    columns: [columnOf('model'), ...MODELS.slice(1, count).map(columnOf)],
    canAdd: count < MODELS.length,
    add: () => setSearch({ columns: String(count + 1) }),
    // The columns after the removed one move up.
    remove(index) {
      const left = MODELS.filter((_, at) => at !== index)
      const moved = MODELS.map((id, at) => [id, left[at]] as const)
      const own = Object.fromEntries(moved.map(([id, from]) => [OWN[id], from === undefined ? {} : settingsOf(OWN[from])]))
      keep(own, {
        columns: String(count - 1),
        ...Object.fromEntries(moved.map(([id, from]) => [id, from === undefined ? undefined : search[from]])),
      })
    },
    setShared: (shared, more = {}) => keep({ [SHARED]: shared }, more),
    setModel: ({ id }, model) => setSearch({ [id]: model }),
    setOwn: ({ id }, own) => keep({ [OWN[MODELS.find((name) => name === id) ?? 'model']]: own }, {}),
  }
}
