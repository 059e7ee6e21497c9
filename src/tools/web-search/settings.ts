/** `tools.web_search` of the operator's file. */
import { z } from 'zod'

import { enabled } from '../enabled.ts'
import { ENGINE_KINDS, KIND_NAMES } from './engine-kinds.ts'

const price = (description: string) => z.number().min(0).max(1000).default(0).meta({ description })

const engineSettings = z
  .strictObject({
    kind: z.enum(KIND_NAMES).meta({ description: 'Which API it speaks. http: a service of your own.' }),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ description: "Its address, which may be private; the vendor's own address when absent. searxng and http need it." }),
    api_key: z
      .string()
      .min(1)
      .optional()
      .meta({ description: "Sent as the engine's key. Kind http: the secret that signs each request (HMAC-SHA256)." }),
    price_per_request: price('US dollars for a search that it answers.'),
    price_per_extra_result: price('US dollars for each result beyond ten of one search.'),
  })
  .refine(({ kind, url }) => url !== undefined || ENGINE_KINDS[kind].address !== null, {
    path: ['url'],
    message: 'This kind of engine has no address of its own; write where yours is',
  })
  .refine(({ kind, url, api_key }) => url !== undefined || api_key !== undefined || ENGINE_KINDS[kind].address === null, {
    path: ['api_key'],
    message: 'The vendor asks for a key',
  })

export type EngineSettings = z.output<typeof engineSettings>

const engineName = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, 'Use lower-case letters, digits, hyphens and underscores.')
  .refine((name) => name !== NATIVE && name !== 'auto', 'auto and native have a meaning of their own; use another name.')

/** In `order`, it stands for the search of the answering provider. */
const NATIVE = 'native'

export const webSearchSettings = z
  .strictObject({
    enabled: enabled('false: the service runs no search; that of providers is left to them.'),
    order: z.array(z.string()).min(1).optional().meta({
      description:
        'Who searches: `native` and names of engines, of which the first that can is used. Absent: native, then the engines in the order of the file.',
    }),
    engines: z.record(engineName, engineSettings).default({}),
  })
  .superRefine(({ order = [], engines }, context) => {
    for (const [index, name] of order.entries()) {
      if (name === NATIVE || Object.hasOwn(engines, name)) continue
      context.addIssue({ code: 'custom', path: ['order', index], message: 'Neither native nor the name of one of the engines' })
    }
  })

export type WebSearchSettings = z.output<typeof webSearchSettings>

/** Returns true if a provider's own search is preferred to the service's when a client leaves the choice to the operator. */
export const prefersNative = ({ enabled, order = [NATIVE] }: WebSearchSettings): boolean => !enabled || order[0] === NATIVE

/** The names of the service's own engines, in the order in which they are tried. */
export const engineOrder = ({ order, engines }: WebSearchSettings): readonly string[] =>
  order === undefined ? Object.keys(engines) : [...new Set(order.filter((name) => name !== NATIVE))]
