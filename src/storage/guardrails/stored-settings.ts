/** The form of a guardrail's stored rules. The schemas of the contract are not loaded at a start (decisions/0266), so this one only says of what kind each rule is. */
import { z } from 'zod'

import type { GuardrailSettings } from '../../contract/guardrail.ts'
import { readStoredJson } from '../rows/damaged-row.ts'

type StoredSettings = Omit<GuardrailSettings, 'name' | 'limit_usd' | 'reset_interval' | 'include_byok_in_budgets'>

/** Members of a newer version stay in it. Rows of earlier versions deny no tools. */
export const readSettings = (id: string, text: string): StoredSettings => readStoredJson('guardrails', id, form, text) as StoredSettings

const texts = z.array(z.string()).nullable()
const flag = z.boolean().nullable()
const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.looseObject({ ...shape, action: z.string() })).nullable()

const form = z.looseObject({
  description: z.string().nullable(),
  allowed_models: texts,
  ignored_models: texts,
  allowed_providers: texts,
  ignored_providers: texts,
  enforce_zdr: flag,
  enforce_zdr_anthropic: flag,
  enforce_zdr_openai: flag,
  enforce_zdr_google: flag,
  enforce_zdr_xai: flag,
  enforce_zdr_other: flag,
  enable_free_model_publication: flag,
  enable_free_model_training: flag,
  enable_paid_model_training: flag,
  allowed_data_regions: texts,
  denied_tools: texts.default(null),
  content_filters: listOf({ pattern: z.string() }),
  content_filter_builtins: listOf({ slug: z.string() }),
  moderation: listOf({ endpoint: z.string() }),
} satisfies Record<keyof StoredSettings, z.ZodType>)
