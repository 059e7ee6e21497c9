/** The columns of the playground. Models and parameters stand in the address, so that a link opens the same ones; texts and tools never do. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import type { Search } from '../../search.ts'
import type { Column } from './answer-columns.tsx'
import { linkText, settingsInLink } from './link-settings.ts'

type Settings = Column['settings']

const MODELS = ['model', 'model2', 'model3', 'model4'] as const
type ModelName = (typeof MODELS)[number]

/** The name that a column's own settings have in the address. */
const OWN: Readonly<Record<ModelName, string>> = { model: 'params', model2: 'params2', model3: 'params3', model4: 'params4' }
const SHARED = 'settings'

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
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  // A setting that stands in no address is here alone.
  const [kept, setKept] = useState<Readonly<Record<string, Settings>>>(() =>
    Object.fromEntries([SHARED, ...Object.values(OWN)].map((name) => [name, settingsInLink(search[name])])),
  )
  const setSearch = (more: Search): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...more }), replace: true, resetScroll: false })
  const keep = (name: string, settings: Settings, more: Search = {}): void => {
    setKept((before) => ({ ...before, [name]: settings }))
    setSearch({ ...more, [name]: linkText(settings) })
  }
  const columnOf = (id: ModelName): Column => ({ id, model: search[id] ?? '', settings: kept[OWN[id]] ?? {} })
  const count = Math.max(1, Math.min(MODELS.length, Number(search['columns'] ?? 1) || 1))
  return {
    shared: kept[SHARED] ?? {},
    columns: [columnOf('model'), ...MODELS.slice(1, count).map(columnOf)],
    canAdd: count < MODELS.length,
    add: () => setSearch({ columns: String(count + 1) }),
    // The columns behind it move up.
    remove(index) {
      const left = MODELS.filter((_, at) => at !== index)
      const moved = MODELS.map((id, at) => [id, left[at]] as const)
      const own = Object.fromEntries(moved.map(([id, from]) => [OWN[id], from === undefined ? {} : (kept[OWN[from]] ?? {})]))
      setKept((before) => ({ ...before, ...own }))
      setSearch({
        columns: String(count - 1),
        ...Object.fromEntries(moved.map(([id, from]) => [id, from === undefined ? undefined : search[from]])),
        ...Object.fromEntries(Object.entries(own).map(([name, settings]) => [name, linkText(settings)])),
      })
    },
    setShared: (settings, more) => keep(SHARED, settings, more),
    setModel: ({ id }, model) => setSearch({ [id]: model }),
    setOwn: ({ id }, settings) => keep(OWN[MODELS.find((name) => name === id) ?? 'model'], settings),
  }
}
