/**
 * The errors of Gemini's API for the body of a `generateContent` request, in its own words. Sources: its reference (ai.google.dev: "Generating
 * content", "Function calling", "Thought signatures", "Structured output"), and errors that people report. It uses none of our code, so that
 * it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, firstRefusal, list, objects, strangeIn } from './strict-body.ts'

/** The first error of the request; null if it is accepted. */
export const refusedByGoogle = (body: Body, model: string): string | null => firstRefusal(RULES, body, model)

type Rule = (body: Body, model: string) => string | null

const isSince = (model: string, generation: number): boolean => Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0) >= generation

/** Names that no message of the API has: "Unknown name "x": Cannot find field." */
const unknownIn = (value: unknown, known: string, at: string): string | null => {
  const strange = strangeIn(value, known)
  return strange === undefined ? null : `Unknown name "${strange}" at '${at}': Cannot find field.`
}

const fields: Rule = (body) =>
  unknownIn(
    body,
    'contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent serviceTier labels store',
    '',
  ) ??
  unknownIn(
    body['generationConfig'],
    `stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed ${[
      'presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig',
      'mediaResolution',
    ].join(' ')}`,
    'generation_config',
  ) ??
  unknownIn(
    isObject(body['generationConfig']) ? body['generationConfig']['thinkingConfig'] : null,
    'includeThoughts thinkingBudget thinkingLevel',
    'thinking_config',
  )

const contents = (body: Body): readonly Body[] => objects(body['contents'])
const partsOf = (content: Body): readonly Body[] => objects(content['parts'])

const DATA = ['text', 'inlineData', 'functionCall', 'functionResponse', 'fileData']

const parts: Rule = (body) => {
  if (contents(body).length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  const system = isObject(body['systemInstruction']) ? [body['systemInstruction']] : []
  for (const content of [...system, ...contents(body)]) {
    if (!['user', 'model', undefined].includes(content['role'] as string)) return 'Please use a valid role: user, model.'
    if (partsOf(content).length === 0) return '* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.'
    for (const part of partsOf(content)) {
      const strange = unknownIn(part, [...DATA, 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution'].join(' '), 'parts')
      if (strange !== null) return strange
      const held = DATA.filter((name) => part[name] !== undefined)
      if (held.length !== 1) return `oneof field 'data' is set ${held.length} times`
      if (part['text'] === '' && part['thoughtSignature'] === undefined)
        return 'Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.'
      if (part['thoughtSignature'] !== undefined && (typeof part['thoughtSignature'] !== 'string' || part['thoughtSignature'] === ''))
        return 'thought_signature: Base64 decoding failed'
      const { functionCall: call, functionResponse: response } = part
      if (isObject(call) && (!isName(call['name']) || !isObject(call['args'])))
        return 'Invalid function name, or arguments that are no struct'
      if (isObject(response) && (!isName(response['name']) || !isObject(response['response'])))
        return 'GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.'
      if (call !== undefined && content['role'] !== 'model') return 'function call in a turn of the user'
      if (response !== undefined && content['role'] === 'model') return 'function response in a turn of the model'
    }
  }
  return system.some((content) => partsOf(content).some((part) => part['text'] === undefined))
    ? 'system instruction with other than text'
    : null
}

const isName = (name: unknown): boolean => typeof name === 'string' && /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)

/** Turns of one role are one turn. */
const turnsOf = (body: Body): readonly { readonly role: unknown; readonly parts: readonly Body[] }[] => {
  const turns: { role: unknown; parts: Body[] }[] = []
  for (const content of contents(body)) {
    const last = turns.at(-1)
    if (last !== undefined && last.role === content['role']) last.parts.push(...partsOf(content))
    else turns.push({ role: content['role'], parts: [...partsOf(content)] })
  }
  return turns
}

const calls: Rule = (body) => {
  const turns = turnsOf(body)
  for (const [place, { role, parts }] of turns.entries()) {
    const called = parts.filter((part) => part['functionCall'] !== undefined)
    const answered = parts.filter((part) => part['functionResponse'] !== undefined)
    if (called.length > 0 && place === 0)
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    const before = turns[place - 1]?.parts.filter((part) => part['functionCall'] !== undefined) ?? []
    if (answered.length > 0 && before.length === 0)
      return 'Please ensure that function response turn comes immediately after a function call turn.'
    if (role === 'user' && before.length !== answered.length)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    if (called.length > 0 && place === turns.length - 1) return 'Please ensure that function call turn is answered.'
    const first = parts.findIndex((part) => part['functionResponse'] === undefined)
    if (answered.length > 0 && first >= 0 && first < answered.length) return 'function responses behind other parts'
    const names = (all: readonly Body[], member: string): string =>
      all
        .map((part) => part[member])
        .map((one) => (isObject(one) ? `${String(one['id'])} ${String(one['name'])}` : ''))
        .toSorted()
        .join()
    if (answered.length > 0 && names(before, 'functionCall') !== names(answered, 'functionResponse'))
      return 'function responses of other calls'
  }
  return null
}

/** "Function call `x` in the 2. content block is missing a `thought_signature`." Only the first of parallel calls has one. */
const signatures: Rule = (body, model) => {
  if (!isSince(model, 3)) return null
  for (const content of contents(body)) {
    const first = partsOf(content).find((part) => part['functionCall'] !== undefined)
    if (first !== undefined && first['thoughtSignature'] === undefined) return 'Function call is missing a `thought_signature`.'
  }
  return null
}

const ending: Rule = (body, model) =>
  isSince(model, 3.6) && contents(body).at(-1)?.['role'] === 'model'
    ? 'This model does not support requests ending with a model turn.'
    : null

const config: Rule = (body, model) => {
  const given = isObject(body['generationConfig']) ? body['generationConfig'] : {}
  const { temperature, topP, topK, maxOutputTokens, stopSequences, responseMimeType: type, thinkingConfig: thinking } = given
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2))
    return 'temperature must be in the range [0.0, 2.0].'
  if (topP !== undefined && !(Number(topP) >= 0 && Number(topP) <= 1)) return 'top_p must be in the range [0.0, 1.0].'
  if (topK !== undefined && !(Number.isInteger(topK) && Number(topK) >= 1)) return 'top_k must be positive'
  if (maxOutputTokens !== undefined && !(Number.isInteger(maxOutputTokens) && Number(maxOutputTokens) >= 1))
    return 'max_output_tokens must be positive'
  if (list(stopSequences).length > 5 || list(stopSequences).includes('')) return 'stop_sequences: at most 5, none empty'
  if ((given['responseJsonSchema'] ?? given['responseSchema']) !== undefined && type !== 'application/json')
    return 'responseSchema only allowed with response_mime_type application/json'
  const functions = objects(body['tools']).some((tool) => tool['functionDeclarations'] !== undefined)
  if (functions && type === 'application/json' && !isSince(model, 3))
    return "Function calling with a response mime type: 'application/json' is unsupported"
  if (isObject(thinking) && thinking['thinkingBudget'] !== undefined && thinking['thinkingLevel'] !== undefined)
    return 'You can only set only one of thinking budget and thinking level.'
  if (isObject(thinking) && thinking['thinkingLevel'] !== undefined && !isSince(model, 3))
    return 'Thinking level is not supported for this model.'
  if (isObject(thinking) && !isSince(model, 2.5)) return 'Thinking is not enabled for this model'
  if (model.startsWith('gemini-2.5') && (given['presencePenalty'] ?? given['frequencyPenalty']) !== undefined)
    return 'Penalty is not enabled for this model'
  return null
}

const tools: Rule = (body) => {
  const declared = objects(body['tools']).flatMap((tool) => objects(tool['functionDeclarations']))
  if (objects(body['tools']).some((tool) => list(tool['functionDeclarations']).length === 0 && tool['googleSearch'] === undefined))
    return 'an empty tool'
  if (declared.length > 0 && objects(body['tools']).some((tool) => tool['googleSearch'] !== undefined))
    return 'Built-in tools ({google_search}) and Function Calling cannot be combined in the same request.'
  const names = declared.map(({ name }) => name)
  const duplicate = names.find((name, place) => names.indexOf(name) !== place)
  if (duplicate !== undefined) return `Duplicate function declaration found: ${JSON.stringify(duplicate)}`
  for (const declaration of declared) {
    const strange = unknownIn(
      declaration,
      'name description parameters parametersJsonSchema behavior response responseJsonSchema',
      'function_declarations',
    )
    if (strange !== null) return strange
    if (!isName(declaration['name'])) return 'Invalid function name.'
    const schema = declaration['parametersJsonSchema']
    if (schema !== undefined && !(isObject(schema) && (schema['type'] === 'object' || schema['$ref'] !== undefined)))
      return 'functionDeclaration parameters schema should be of type OBJECT.'
    const fault = faultOf(schema)
    if (fault !== null) return fault
  }
  const choice = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : undefined
  if (isObject(body['toolConfig']) && declared.length === 0) return 'Function calling config is set without function_declarations.'
  if (!isObject(choice)) return null
  const { mode, allowedFunctionNames: allowed } = choice
  if (allowed !== undefined && mode !== 'ANY' && mode !== 'VALIDATED') return 'allowed_function_names is only for ANY'
  const stranger = list(allowed).find((name) => !names.includes(name as string))
  return stranger === undefined ? null : `allowed_function_names: ${JSON.stringify(stranger)} is not declared`
}

/** "reference to undefined schema", "$ref with other fields". */
const faultOf = (schema: unknown, root: unknown = schema): string | null => {
  if (Array.isArray(schema)) return schema.map((one) => faultOf(one, root)).find((fault) => fault !== null) ?? null
  if (!isObject(schema)) return null
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    if (Object.keys(schema).some((key) => key !== '$ref' && key !== '$defs')) return 'a $ref with other fields'
    const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1]
    if (name === undefined || !isObject(root) || !isObject(root['$defs']) || root['$defs'][name] === undefined) return 'a $ref to nothing'
  }
  return (
    Object.values(schema)
      .map((one) => faultOf(one, root))
      .find((fault) => fault !== null) ?? null
  )
}

const RULES: readonly Rule[] = [fields, parts, calls, signatures, ending, config, tools]
