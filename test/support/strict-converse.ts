/**
 * The errors of Bedrock's Converse for the body of a request to any model, in its own words. Sources: its API reference (ContentBlock,
 * ToolUseBlock, ToolSpecification, InferenceConfiguration), its user guide, and errors that people report. It uses none of our code, so that
 * it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, firstRefusal, list, objects, strangeIn } from './strict-body.ts'

/** The first error of the request; null if it is accepted. */
export const refusedByConverse = (body: Body): string | null => firstRefusal([fields, blocks, turns, tools, inference], body)

const messagesOf = (body: Body): readonly Body[] => objects(body['messages'])
const blocksOf = (message: Body | undefined): readonly Body[] => objects(message?.['content'])

const unknownIn = (value: unknown, known: string, at: string): string | null => {
  const strange = strangeIn(value, known)
  return strange === undefined ? null : `Unexpected field ${at}.${strange}`
}

const fields = (body: Body): string | null =>
  unknownIn(
    body,
    `messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables
    additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig`,
    'body',
  )

const BLOCKS = 'text image document video audio toolUse toolResult guardContent cachePoint reasoningContent citationsContent searchResult'

const blocks = (body: Body): string | null => {
  for (const block of [...objects(body['system']), ...messagesOf(body).flatMap(blocksOf)]) {
    const strange = unknownIn(block, BLOCKS, 'content')
    if (strange !== null) return strange
    if (Object.keys(block).length !== 1) return 'ContentBlock: exactly one member must be set'
    if (typeof block['text'] === 'string' && block['text'].trim() === '')
      return 'The text field in the ContentBlock object is blank. Add text to the text field, and try again.'
    const { toolUse: use, toolResult: result } = block
    if (isObject(use) && (!isId(use['toolUseId']) || !isName(use['name']) || !isObject(use['input'])))
      return 'toolUse failed to satisfy constraint'
    if (isObject(result) && (!isId(result['toolUseId']) || !Array.isArray(result['content'])))
      return 'toolResult failed to satisfy constraint'
    const inner = isObject(result)
      ? objects(result['content']).find(({ text }) => typeof text === 'string' && text.trim() === '')
      : undefined
    if (inner !== undefined) return 'The text field in the ToolResultContentBlock is blank.'
    // Claude alone takes an empty result, and only without the mark.
    if (isObject(result) && objects(result['content']).length === 0)
      return 'The content field at messages.0.content.0.toolResult cannot be empty when status value is error.'
  }
  return null
}

const isId = (id: unknown): boolean => typeof id === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(id)
const isName = (name: unknown): boolean => typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name)

const turns = (body: Body): string | null => {
  const messages = messagesOf(body)
  if (messages.length === 0) return 'messages: at least one message is required'
  if (messages[0]?.['role'] !== 'user')
    return 'A conversation must start with a user message. Try again with a conversation that starts with a user message.'
  for (const [place, message] of messages.entries()) {
    const before = messages[place - 1]
    if (before?.['role'] === message['role']) return 'A conversation must alternate between user and assistant roles.'
    if (blocksOf(message).length === 0)
      return 'The content field in the Message object is empty. Add a ContentBlock object to the content field and try again.'
    const called = blocksOf(before).flatMap(({ toolUse }) => (isObject(toolUse) ? [toolUse['toolUseId']] : []))
    const answered = blocksOf(message).flatMap(({ toolResult }) => (isObject(toolResult) ? [toolResult['toolUseId']] : []))
    if (new Set(called).size < called.length || new Set(answered).size < answered.length)
      return 'duplicate ids of toolUse or toolResult blocks'
    if (message['role'] === 'user' && called.some((id) => !answered.includes(id)))
      return 'Expected toolResult blocks for the toolUse blocks of the previous turn'
    if (answered.some((id) => !called.includes(id)))
      return 'The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.'
    const calls = blocksOf(message).some((block) => block['toolUse'] !== undefined)
    if (calls && place === messages.length - 1) return 'toolUse without toolResult at the end'
  }
  return null
}

const tools = (body: Body): string | null => {
  const config = isObject(body['toolConfig']) ? body['toolConfig'] : undefined
  const uses = messagesOf(body).some((message) =>
    blocksOf(message).some((block) => block['toolUse'] !== undefined || block['toolResult'] !== undefined),
  )
  if (config === undefined) return uses ? 'The toolConfig field must be defined when using toolUse and toolResult content blocks.' : null
  const specs = objects(config['tools']).flatMap(({ toolSpec }) => (isObject(toolSpec) ? [toolSpec] : []))
  if (specs.length === 0) return 'toolConfig.tools: at least one tool'
  const names = specs.map(({ name }) => name)
  if (new Set(names).size < names.length) return 'The toolConfig field contains duplicate tool names.'
  for (const { name, inputSchema, description } of specs) {
    if (!isName(name)) return 'toolSpec.name failed to satisfy constraint'
    if (description === '') return 'toolSpec.description: Member must have length greater than or equal to 1'
    if (!isObject(inputSchema) || !isObject(inputSchema['json']) || inputSchema['json']['type'] !== 'object')
      return 'toolSpec.inputSchema.json.type must be one of the following: object.'
  }
  const choice = isObject(config['toolChoice']) ? config['toolChoice'] : undefined
  const named = choice !== undefined && isObject(choice['tool']) ? choice['tool']['name'] : undefined
  return named === undefined || names.includes(named) ? null : 'toolChoice names a tool that is not in the list'
}

const inference = (body: Body): string | null => {
  const given = isObject(body['inferenceConfig']) ? body['inferenceConfig'] : {}
  const strange = unknownIn(given, 'maxTokens temperature topP stopSequences', 'inferenceConfig')
  if (strange !== null) return strange
  const { maxTokens, temperature, topP, stopSequences } = given
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && Number(maxTokens) >= 1))
    return 'maxTokens: Member must have value greater than or equal to 1'
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1))
    return 'temperature: Member must have value less than or equal to 1'
  if (topP !== undefined && !(Number(topP) >= 0 && Number(topP) <= 1)) return 'topP: Member must have value less than or equal to 1'
  return list(stopSequences).includes('') ? 'stopSequences: Member must have length greater than or equal to 1' : null
}
