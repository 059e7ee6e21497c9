/** Three vendors on one port: each reads its dialect, refuses what the real one refuses, and then does what the user's text says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { openaiRefusal, readChat, writeChat } from './chat.ts'
import { type Body, type Conversation, nextTurn, type Refusal, type Turn } from './conversation.ts'
import { failureOf } from './failures.ts'
import { readMessages, writeMessages } from './messages.ts'
import { ANTHROPIC_RULES, DEEPSEEK_RULES, OPENAI_CHAT_RULES, OPENAI_RESPONSES_RULES, type Rule } from './refusals.ts'
import { readResponses, writeResponses } from './responses.ts'
import { ENGINE_PATH, engineAnswer } from './search-engine.ts'

interface Vendor {
  readonly path: RegExp
  readonly family: 'openai' | 'anthropic'
  readonly rules: readonly Rule[]
  readonly read: (body: Body) => Conversation
  readonly write: (turn: Turn, conversation: Conversation, id: string) => readonly unknown[]
  /** Says whether events have names, in place of `[DONE]` at the end. */
  readonly named: boolean
}

const VENDORS: readonly Vendor[] = [
  { path: /^\/deepseek\/.*chat\/completions$/, family: 'openai', rules: DEEPSEEK_RULES, read: readChat, write: writeChat, named: false },
  { path: /chat\/completions$/, family: 'openai', rules: OPENAI_CHAT_RULES, read: readChat, write: writeChat, named: false },
  { path: /\/responses$/, family: 'openai', rules: OPENAI_RESPONSES_RULES, read: readResponses, write: writeResponses, named: true },
  { path: /\/messages$/, family: 'anthropic', rules: ANTHROPIC_RULES, read: readMessages, write: writeMessages, named: true },
]

export interface Vendors {
  readonly url: string
  /** The requests that were refused so far by the vendors' own rules. */
  readonly refused: readonly string[]
  stop(): void
}

export const startVendors = async (): Promise<Vendors> => {
  const refused: string[] = []
  const seen = new Set<string>()
  let count = 0
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://vendor')
      if (path === `${ENGINE_PATH}/search`) return whole(response, 200, engineAnswer(searchParams.get('q') ?? ''))
      const vendor = VENDORS.find((one) => one.path.test(path))
      if (vendor === undefined) return refuse(response, openaiRefusal(404, `Invalid URL (${request.method} ${path})`))
      const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]))
      // An operator's own server refuses nothing.
      const rules = path.startsWith('/failing/') ? [] : vendor.rules
      const broken = rules.reduce<Refusal | null>((found, rule) => found ?? rule(body, headers), null)
      if (broken !== null) {
        refused.push(`${path}: ${JSON.stringify(broken.body)}`)
        return refuse(response, broken)
      }
      const conversation = vendor.read(body)
      const failure = failureOf(conversation.asked, vendor.family, seen)
      if (failure !== null) return refuse(response, failure)
      count += 1
      const answer = vendor.write(nextTurn(conversation), conversation, String(count))
      return conversation.stream ? stream(response, answer, vendor.named) : whole(response, 200, answer[0])
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, refused, stop: () => void server.close() }
}

const readBody = async (request: IncomingMessage): Promise<Body> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return JSON.parse(Buffer.concat(pieces).toString() || '{}') as Body
}

const whole = (response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const refuse = (response: ServerResponse, { status, body, retryAfter }: Refusal): void =>
  whole(response, status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter })

const stream = (response: ServerResponse, events: readonly unknown[], named: boolean): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const name = named ? `event: ${(event as { type: string }).type}\n` : ''
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(named ? '' : 'data: [DONE]\n\n')
}
