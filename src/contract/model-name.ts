import { z } from 'zod'

/** The name of a model, or a pattern of names, in the rules of a key, a guardrail or a provider key. They see the models that a preset leads to. */
export const ruledModel = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => !/@preset|\*preset\//i.test(name), 'A rule sees the models that a preset uses, never its name: name those models.')
