/**
 * Which models a vendor's own name for one can mean (docs/contract/routing.md#vendor-names): `gpt-5.4`, `claude-opus-4-8`,
 * `claude-haiku-4-5-20251001`, `claude-sonnet-5[1m]`, and, behind a right prefix, `anthropic/claude-opus-4-8`.
 */
import type { Model } from './model.ts'

export interface VendorNames {
  /** The models that are as good a match; none for a name that says nothing. */
  modelsOf(name: string): readonly Model[]
}

/**
 * A model that the operator wrote down wins by its id; what its provider calls it says less than the catalogue does. Models
 * of the service's own play a part and have no vendor.
 */
export const createVendorNames = (models: readonly Model[]): VendorNames => {
  const operators = models.filter(({ origin }) => origin === 'operator')
  const catalogue = models.filter(({ origin }) => origin === undefined)
  const imported = models.filter(({ origin }) => origin === 'import')
  const tiers = [
    { named: operators, namesOf: ownNames },
    { named: catalogue, namesOf: (model: Model) => [...ownNames(model), ...upstreamNames(model)] },
    { named: operators, namesOf: upstreamNames },
    // A list of thousands takes no name from a model that had it.
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

/** Its id, with and without the vendor. */
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

/** Without the day that it is from, and with one way to write a version. */
const looseForm: Form = (name) =>
  undated(exactForm(name))
    .replace(/-latest$/, '')
    .replace(/[._]/g, '-')

/** Without the day that a vendor puts behind a name. */
export const undated = (name: string): string => name.replace(DATE, '')

const FORMS = [exactForm, looseForm] as const

/** Claude Code's own sign for a long context: `[1m]`. */
const CONTEXT_MARK = /\[[a-z0-9]{1,8}\]$/

/** `-20251001`, `@20251001`, `-2024-08-06` */
const DATE = /[-@]20\d{2}(?:\d{4}|-\d{2}-\d{2})$/

/** As long as a listed id may be. */
const NAME_LENGTH_MAX = 256
