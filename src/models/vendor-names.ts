/**
 * Finds which models a vendor's own name can mean (docs/contract/routing.md#vendor-names): `gpt-5.4`, `claude-opus-4-8`,
 * `claude-haiku-4-5-20251001`, `claude-sonnet-5[1m]`, and, with a correct prefix, `anthropic/claude-opus-4-8`.
 */
import type { Model } from './model.ts'

export interface VendorNames {
  /** All models that match equally well; empty for a name without a match. */
  modelsOf(name: string): readonly Model[]
}

/**
 * A model in the operator's file takes precedence by its id; its provider's name for it counts less than the catalogue. Models of the
 * service's own are no vendor's, so they are left out.
 */
export const createVendorNames = (models: readonly Model[]): VendorNames => {
  const operators = models.filter(({ origin }) => origin === 'operator')
  const catalogue = models.filter(({ origin }) => origin === undefined)
  const imported = models.filter(({ origin }) => origin === 'import')
  const tiers = [
    { named: operators, namesOf: ownNames },
    { named: catalogue, namesOf: (model: Model) => [...ownNames(model), ...upstreamNames(model)] },
    { named: operators, namesOf: upstreamNames },
    // An imported list of thousands must not take a name from a model that had it before.
    { named: imported, namesOf: (model: Model) => [...ownNames(model), ...upstreamNames(model)] },
  ].flatMap(({ named, namesOf }) => FORMS.map((form) => ({ form, index: indexOf(named, namesOf, form) })))
  return {
    modelsOf(name) {
      if (name.length > NAME_LENGTH_MAX) return []
      for (const { form, index } of tiers) {
        const found = index.get(form(name))
        if (found !== undefined) return [...found]
      }
      return []
    },
  }
}

type Names = (model: Model) => readonly string[]
type Form = (name: string) => string

/** The id, with and without the vendor. */
const ownNames: Names = ({ id }) => [id, id.slice(id.indexOf('/') + 1)]

const upstreamNames: Names = ({ endpoints }) => endpoints.map(({ upstreamModel }) => upstreamModel)

const indexOf = (models: readonly Model[], namesOf: Names, form: Form): ReadonlyMap<string, ReadonlySet<Model>> => {
  const index = new Map<string, Set<Model>>()
  for (const model of models) {
    for (const name of namesOf(model)) {
      const known = index.get(form(name))
      if (known === undefined) index.set(form(name), new Set([model]))
      else known.add(model)
    }
  }
  return index
}

const exactForm: Form = (name) => name.toLowerCase().replace(CONTEXT_MARK, '')

/** The name without its date, and with a single form for version numbers. */
const looseForm: Form = (name) =>
  undated(exactForm(name))
    .replace(/-latest$/, '')
    .replace(/[._]/g, '-')

/** Removes the date that a vendor appends to a name. */
export const undated = (name: string): string => name.replace(DATE, '')

const FORMS = [exactForm, looseForm] as const

/** Claude Code's own mark for a long context: `[1m]`. */
const CONTEXT_MARK = /\[[a-z0-9]{1,8}\]$/

/** `-20251001`, `@20251001`, `-2024-08-06` */
const DATE = /[-@]20\d{2}(?:\d{4}|-\d{2}-\d{2})$/

/** The same limit as for a listed id. */
const NAME_LENGTH_MAX = 256
