/** The API as an OpenAPI 3.1 document. It is generated from the table of routes, so nothing has to be written twice. */
import type { ClientDialect } from '../../canonical/call.ts'
import { z } from 'zod'

import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { ERROR_SCHEMAS, errorResponseName, errorResponseObject, errorStatuses, errorTypeTable } from './errors.ts'
import { BODY_EXAMPLES, answerExamples } from './examples.ts'
import { schemaBook, type SchemaBook } from './schemas.ts'
import { POLICIES, type Policy } from '../access/policies.ts'
import type { Route } from '../route.ts'

/** Routes below a base path, e.g. `/api/v1`; '' for those at the root. */
export interface Mount {
  readonly base: string
  readonly routes: readonly Route[]
}

/**
 * A pure function of its arguments. A route that is mounted twice is described at its first place. Throws TypeError if two
 * routes have the same operation id, or two schemas the same name.
 */
export function* openapiDocument(mounts: readonly Mount[], info: { readonly version: string }): Steps<JsonObject> {
  const operations = operationsOf(mounts)
  const routes = operations.map(({ route }) => route)
  const book = yield* schemaBook(routes.flatMap(inputSchemas), [...routes.flatMap(outputSchemas), ...Object.values(ERROR_SCHEMAS)])
  const responses = new Map<string, JsonObject>()
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const { path, route } of operations) {
    const errors = errorStatuses(route).map((status): [string, JsonObject] => {
      const name = errorResponseName(route.surface, status, route.policy)
      if (!responses.has(name)) {
        responses.set(name, errorResponseObject(route.surface, status, route.policy, book.output(ERROR_SCHEMAS[route.surface])))
      }
      return [String(status), { $ref: `#/components/responses/${name}` }]
    })
    const item = (paths[path] ??= {})
    item[route.method.toLowerCase()] = operationObject(route, book, errors)
    yield
  }
  const used = new Set(routes.map(({ tag }) => tag))
  return {
    openapi: '3.1.1',
    info: {
      title: 'Patchbay',
      version: info.version,
      summary: 'One service in front of every language model, with presets saved straight from a request body.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    tags: TAGS.filter(({ name }) => used.has(name)).map((tag) => ({ ...tag })),
    paths,
    components: {
      schemas: book.components,
      responses: Object.fromEntries([...responses].sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
    'x-error-types': errorTypeTable(),
  }
}

const DESCRIPTION = `Patchbay speaks three inference interfaces (Chat Completions, Responses, Messages) and keeps presets: named, versioned configurations that are created by sending an inference request body to another path.

Everything below \`/api/v1\` is reachable below \`/v1\` too, so clients that are given a bare host work. Every answer carries an \`X-Request-Id\`.

When a provider fails after a request was accepted, the answer may have status 200 with the error in its body or in its stream: look for \`error\` in each answer. As long as nothing was sent, clients that are known to need the real status get it instead, and so does every request with the header \`X-Service-Provider-Failure: status\`.`

const TAGS: readonly { readonly name: Route['tag']; readonly description: string }[] = [
  {
    name: 'Inference',
    description:
      'Call a model, or a preset under the name `@preset/slug`, in the dialect that your client speaks. All three reach every model.',
  },
  { name: 'Presets', description: 'Named, versioned configurations. Every change makes a new version; versions never change.' },
  { name: 'Keys', description: 'Management keys manage, inference keys call models. A key is shown once, when it is created.' },
  {
    name: 'Workspaces',
    description:
      'Keys, presets and guardrails belong to a workspace. A key reaches the objects of its own workspace and no others, except that a management key of the default workspace reaches all.',
  },
  {
    name: 'Provider keys',
    description: "A workspace's own keys of providers. They are sealed at rest, never shown, and used before those of the service.",
  },
  { name: 'Credits', description: 'Read the prepaid credit of a workspace and add to it.' },
  {
    name: 'Sign-in',
    description:
      'People sign in and act without an API key: admins may do what a management key of their workspace may do, members may act on their own objects.',
  },
  { name: 'Observability', description: 'Destinations that receive the traces of requests.' },
  { name: 'Audit', description: 'The audit log lists each change, with who made it and when.' },
  { name: 'Models', description: 'List the models that a key can call, and the presets that it can use as models.' },
  {
    name: 'Guardrails',
    description: 'Guardrails limit requests by filters for their content, allow-lists of models and providers, and budgets.',
  },
  { name: 'Generations', description: 'The record of each request: its attempts, its usage and its cost.' },
  { name: 'Files', description: 'Files of a workspace, for people, programs and models that are offered `service:files`.' },
  { name: 'Service', description: 'Health, metrics and this description. No key is needed.' },
]

const HEADERS: JsonObject = {
  'Retry-After': {
    description: 'Whole seconds after which a repetition makes sense. Not always sent; a 402 without it is not worth waiting for.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'X-Generation-Id': {
    description: 'The id of the generation record, to be read with GET /generation.',
    schema: { type: 'string' },
    example: 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p',
  },
  'X-Preset': {
    description: 'The preset and version that were used, where one was.',
    schema: { type: 'string' },
    example: 'support-bot@3',
  },
  'X-Service-Warnings': {
    description: 'How many parts of the request could not be honoured and were left out; absent where none was.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
}

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key, as clients of OpenAI send it.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: "The same key, as Anthropic's clients send it." },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'pb_session',
    description: 'The first half of a session, as POST /sessions sets it. The name of the cookie goes on with the id of the installation.',
  },
  sessionHalf: { type: 'apiKey', in: 'header', name: 'X-Patchbay-CSRF', description: 'The second half, as POST /sessions answers it.' },
}

/** Either header, or both halves of a session. The kind of key is given as the role, which OpenAPI 3.1 allows for every scheme. */
const security = (policy: Policy): readonly JsonObject[] => {
  if (policy === 'public') return []
  const { management, inference, admin, member } = POLICIES[policy]
  const kinds = management === inference ? [] : [management ? 'management' : 'inference']
  const byKey = management || inference ? [{ bearer: kinds }, { apiKey: kinds }] : []
  return admin ? [...byKey, { session: member ? [] : ['admin'], sessionHalf: [] }] : byKey
}

interface Operation {
  readonly path: string
  readonly route: Route
}

const operationsOf = (mounts: readonly Mount[]): readonly Operation[] => {
  const operations: Operation[] = []
  const met = new Set<Route>()
  const ids = new Set<string>()
  for (const { base, routes } of mounts) {
    for (const route of routes) {
      if (met.has(route)) continue
      if (ids.has(route.operation)) throw new TypeError(`Two routes have the operation id ${route.operation}.`)
      met.add(route)
      ids.add(route.operation)
      operations.push({ path: base + templateOf(route.path), route })
    }
  }
  return operations
}

const REST = 'rest'

const templateOf = (path: string): string =>
  path
    .split('/')
    .map((segment) => segment.replace(/^:(.*)$/, '{$1}').replace(/^\*$/, `{${REST}}`))
    .join('/')

const inputSchemas = (route: Route): readonly z.ZodType[] => [
  ...Object.values(route.params ?? {}),
  ...Object.values(route.query ?? {}),
  ...Object.values(route.headers ?? {}),
  ...(route.body === undefined ? [] : [route.body]),
]

const outputSchemas = (route: Route): readonly z.ZodType[] => Object.values(route.answers).flatMap(({ schema }) => schema ?? [])

const operationObject = (route: Route, book: SchemaBook, errors: readonly [string, JsonObject][]): JsonObject => {
  const parameters = [
    ...pathParameters(route, book),
    ...parametersIn('query', route.query, book),
    ...parametersIn('header', route.headers, book),
  ]
  const answers = Object.entries(route.answers).map(([status, answer]): [string, JsonObject] => [status, answerObject(route, answer, book)])
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, book, route.bodyType) }),
    responses: Object.fromEntries([...answers, ...errors]),
    security: security(route.policy),
  }
}

/** Every parameter that the path names, in its order, with or without a schema. */
const pathParameters = (route: Route, book: SchemaBook): readonly JsonObject[] =>
  [...templateOf(route.path).matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => {
    const schema = route.params?.[name]
    return { name, in: 'path', required: true, ...described(schema === undefined ? { type: 'string' } : book.input(schema).schema) }
  })

/** OpenAPI has other places for these. */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(['accept', 'authorization', 'content-type'])

const parametersIn = (
  place: 'query' | 'header',
  schemas: Readonly<Record<string, z.ZodType>> | undefined,
  book: SchemaBook,
): readonly JsonObject[] =>
  Object.entries(schemas ?? {})
    .filter(([name]) => place === 'query' || !NOT_PARAMETERS.has(name.toLowerCase()))
    .map(([name, zod]) => {
      const { schema, optional } = book.input(zod)
      return { name, in: place, required: !optional, ...described(schema) }
    })

/** The description belongs to the parameter and not to its schema. */
const described = ({ description, ...schema }: JsonObject): JsonObject => (description === undefined ? { schema } : { description, schema })

const requestBody = (zod: z.ZodType, book: SchemaBook, type: Route['bodyType'] | 'application/json' = 'application/json'): JsonObject => {
  const { schema, optional } = book.input(zod)
  const example = BODY_EXAMPLES[z.globalRegistry.get(zod)?.id ?? '']
  return { required: !optional, content: { [type]: { schema, ...(example === undefined ? {} : { example }) } } }
}

const answerObject = (route: Route, answer: Route['answers'][number], book: SchemaBook): JsonObject => {
  const dialect = route.policy === 'inference' && route.surface !== 'management' ? route.surface : null
  const examples = dialect !== null && answer.stream === true ? answerExamples(dialect) : null
  const json =
    answer.schema === undefined
      ? {}
      : { 'application/json': { schema: book.output(answer.schema), ...(examples === null ? {} : { example: examples.body }) } }
  const stream = answer.stream === true ? { 'text/event-stream': streamMedia(dialect, examples?.stream) } : {}
  const others = Object.fromEntries((answer.types ?? []).map((type) => [type, { schema: bodySchema(type) }]))
  const content = { ...json, ...stream, ...others }
  return {
    description: answer.description,
    ...(dialect === null ? {} : { headers: references(['X-Generation-Id', 'X-Preset', 'X-Service-Warnings', 'Retry-After']) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

const bodySchema = (type: string): JsonObject => ({ type: 'string', ...(TEXT.test(type) ? {} : { format: 'binary' }) })

const TEXT = /^text\/|json$/

const references = (headers: readonly string[]): JsonObject =>
  Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const streamMedia = (dialect: ClientDialect | null, example: string | undefined): JsonObject => ({
  schema: {
    type: 'string',
    description: `Server-sent events, where \`stream\` is true.${dialect === null ? '' : ' The last one is `data: [DONE]`; lines that begin with a colon keep the connection alive.'}`,
  },
  ...(example === undefined ? {} : { example }),
})
