/** Encodes the format of an answer: a schema that the provider enforces, or else instructions for the model. */
import type { Prompt } from '../../canonical/prompt.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { FORMAT_FIELDS } from '../vendors/format-fields.ts'
import { JSON_WORDS, schemaWords } from '../json-words.ts'
import { describedSchema } from '../tools/described-schema.ts'
import type { EncodeContext } from './encode-context.ts'

export interface EncodedFormat {
  /** Enforced by the provider. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** A sentence to put at the end of the system prompt. */
  readonly words?: string
}

type FormatContext = Pick<EncodeContext, 'dialect' | 'target' | 'grammar' | 'mapped'> & { readonly prompt: Pick<Prompt, 'outputFormat'> }

/** `schemas`: the provider can enforce schemas for this model. */
export const encodeFormat = (context: FormatContext, schemas: boolean): EncodedFormat => {
  const { outputFormat } = context.prompt
  if (outputFormat.type === 'text') return {}
  const field = FORMAT_FIELDS[context.dialect]
  const { providerName, upstreamModel } = context.target
  if (outputFormat.type === 'json') {
    context.mapped(field, `${providerName} promises JSON only with a schema; the model is asked for it in words.`)
    return { words: JSON_WORDS }
  }
  const { schema } = outputFormat
  if (isObject(schema)) {
    const closed = schemas ? context.grammar.take(schema, 'format') : { obstacle: 'a schema' }
    if (!('obstacle' in closed)) {
      warnOfLoosened(closed.loosened, field, context)
      return { schema: closed.schema }
    }
    context.mapped(field, `${upstreamModel} cannot be held to ${closed.obstacle}; the schema was described to the model in words.`)
    return { words: schemaWords(describedSchema(schema, outputFormat) as JsonValue) }
  }
  context.mapped(field, `${upstreamModel} cannot be held to a schema that is no object; the model is asked for JSON in words.`)
  return { words: JSON_WORDS }
}

export const warnOfLoosened = (
  loosened: readonly string[],
  field: string,
  { mapped, target }: Pick<EncodeContext, 'mapped' | 'target'>,
): void => {
  if (loosened.length > 0)
    mapped(field, `${target.providerName} does not enforce ${loosened.join(', ')}; it was described to the model in words.`)
}
