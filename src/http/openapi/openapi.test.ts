import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'

import { ERRORS, ERROR_TYPES, INFERENCE_KEY_REQUIRED, MANAGEMENT_KEY_REQUIRED, MANAGEMENT_MESSAGES } from '../../errors.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { ERROR_SCHEMAS } from './errors.ts'
import { describedMounts } from '../../compose/described-routes.test-kit.ts'
import { openapiDocument as describing } from './openapi.ts'
import { entriesOf, listAt, objectAt, objectsAt, textAt } from '../../reference/read-json.ts'
import type { Route, Surface } from '../route.ts'
import { atOnce } from '../../lib/steps.ts'

const openapiDocument = (...given: Parameters<typeof describing>): JsonObject => atOnce(describing(...given))

const info = { version: '1.2.3' }

const route = (more: Partial<Route>): Route => ({
  method: 'GET',
  path: '/things',
  operation: 'listThings',
  summary: 'List things',
  tag: 'Service',
  policy: 'public',
  surface: 'management',
  answers: { 200: { description: 'Things.' } },
  errors: [],
  handle: () => new Response(),
  ...more,
})

const describedOperation = (more: Partial<Route>): JsonObject => {
  const document = openapiDocument([{ base: '/api/v1', routes: [route(more)] }], info)
  const item = Object.values(objectAt(document, 'paths'))[0] as JsonObject
  return Object.values(item)[0] as JsonObject
}

const statuses = (more: Partial<Route>): string[] => Object.keys(objectAt(describedOperation(more), 'responses'))

const schemasOf = (routes: readonly Route[]): JsonObject =>
  objectAt(objectAt(openapiDocument([{ base: '', routes }], info), 'components'), 'schemas')

const mounts = await describedMounts()

describe('the document of the real routes', () => {
  const document = openapiDocument(mounts, info)
  const text = JSON.stringify(document)

  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true })
    expect(textAt(document, 'openapi')).toMatch(/^3\.1\./)
  })

  test('has every route once, at its first place', () => {
    const described = entriesOf(objectAt(document, 'paths')).flatMap(([path, item]) =>
      entriesOf(item).map(([method, operation]) => `${textAt(operation, 'operationId')} ${method} ${path}`),
    )
    const expected = [mounts[0]!, mounts[2]!].flatMap(({ base, routes }) =>
      routes.map(
        (one) => `${one.operation} ${one.method.toLowerCase()} ${base}${one.path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}')}`,
      ),
    )
    expect(described.sort()).toEqual(expected.sort())
  })

  test('an operation in a workspace of choice says that there may be none of that id', () => {
    const chosen = mounts.flatMap(({ routes }) => routes).filter(({ query = {} }) => query['workspace_id'] === inWorkspace.workspace_id)
    expect(chosen.length).toBeGreaterThan(50)
    expect(chosen.filter(({ errors }) => !errors.includes(404)).map(({ operation }) => operation)).toEqual([])
  })

  test('an answer that may be a table says so among its types', () => {
    const tables = entriesOf(objectAt(document, 'paths')).flatMap(([, item]) =>
      entriesOf(item).filter(([, operation]) =>
        /\bCSV\b|text\/csv/.test(textAt(operation, 'summary') + JSON.stringify(operation['responses'])),
      ),
    )
    expect(tables.length).toBe(5)
    for (const [, operation] of tables) {
      expect(Object.keys(objectAt(objectAt(objectAt(operation, 'responses'), '200'), 'content'))).toContain('text/csv')
    }
  })

  test('every successful answer says of which type its body is, but a redirect, which has none', () => {
    const silent = entriesOf(objectAt(document, 'paths')).flatMap(([, item]) =>
      entriesOf(item).flatMap(([, operation]) =>
        entriesOf(objectAt(operation, 'responses')).flatMap(([status, answer]) =>
          status.startsWith('2') && status !== '204' && answer['content'] === undefined ? [textAt(operation, 'operationId')] : [],
        ),
      ),
    )
    expect(silent).toEqual([])
  })

  test('an operation that calls models names the headers by which a client chooses how it is answered', () => {
    const headersOf = (path: string): string[] =>
      objectsAt(objectAt(objectAt(objectAt(document, 'paths'), `/api/v1${path}`), 'post'), 'parameters')
        .filter((one) => textAt(one, 'in') === 'header')
        .map((one) => textAt(one, 'name'))
    const cache = ['X-Service-Cache', 'X-Service-Cache-TTL', 'X-Service-Cache-Clear']
    for (const path of ['/chat/completions', '/responses', '/messages']) {
      expect(headersOf(path)).toEqual(
        expect.arrayContaining([
          'x-session-id',
          'X-Service-Metadata',
          'X-Service-Strict',
          'X-Service-Dry-Run',
          ...cache,
          'X-Service-Provider-Failure',
        ]),
      )
    }
    expect(headersOf('/embeddings')).toEqual([
      'X-Service-Metadata',
      'X-Service-Experimental-Metadata',
      'X-Service-Strict',
      'X-Service-Dry-Run',
      ...cache,
    ])
    for (const path of ['/messages/count_tokens', '/responses/input_tokens'])
      expect(headersOf(path)).toEqual(['X-Service-Strict', 'X-Service-Dry-Run'])
  })

  test.each(['/chat/completions', '/responses', '/messages', '/embeddings'])(
    '%s declares the status of every error type, and of a body that stops coming',
    (path) => {
      const declared = Object.keys(objectAt(objectAt(objectAt(objectAt(document, 'paths'), `/api/v1${path}`), 'post'), 'responses'))
      const known = new Set([408, ...ERROR_TYPES.map((type) => ERRORS[type].status)])
      expect(declared).toEqual(expect.arrayContaining([...known].map(String)))
    },
  )

  test('no header is a constant, for which generators of clients make no parameter', () => {
    const constants = entriesOf(objectAt(document, 'paths')).flatMap(([, item]) =>
      entriesOf(item).flatMap(([, operation]) =>
        objectsAt(operation, 'parameters').filter((one) => textAt(one, 'in') === 'header' && JSON.stringify(one).includes('"const"')),
      ),
    )
    expect(constants).toEqual([])
  })

  test('every reference leads somewhere, and every named schema is used', () => {
    const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!))
    for (const path of references) {
      const target = path.split('/').reduce((at: JsonObject, step) => objectAt(at, step), document)
      expect({ path, found: Object.keys(target).length > 0 }).toEqual({ path, found: true })
    }
    const names = Object.keys(objectAt(objectAt(document, 'components'), 'schemas'))
    expect(names.filter((name) => !references.has(`components/schemas/${name}`))).toEqual([])
    expect(names.filter((name) => name.startsWith('_'))).toEqual([])
  })

  test('a schema with a name is a component and stands nowhere else', () => {
    const description = 'One immutable version of a preset.'
    expect(text.split(JSON.stringify(description)).length - 1).toBe(1)
    expect(text.split('"#/components/schemas/PresetVersion"').length - 1).toBeGreaterThan(1)
  })

  /** The example that is defined with the schema. */
  const exampleOf = (schema: z.ZodType): unknown => (z.globalRegistry.get(schema)?.['examples'] as readonly unknown[] | undefined)?.[0]

  test('every example of a body is accepted by the schema of that body', () => {
    const routes = mounts.flatMap(({ routes }) => routes)
    const examples = entriesOf(objectAt(document, 'paths')).flatMap(([, item]) =>
      entriesOf(item).flatMap(([, operation]) => {
        const body = objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json')
        const { body: schema, bodyType } = routes.find((one) => one.operation === operation['operationId']) ?? {}
        // A file cannot be an example in JSON.
        return schema === undefined || bodyType !== undefined
          ? []
          : [{ operation: operation['operationId'], outcome: schema.safeParse(body['example'] ?? exampleOf(schema)).success }]
      }),
    )
    expect(examples.length).toBeGreaterThan(5)
    expect(examples.filter(({ outcome }) => !outcome)).toEqual([])
  })

  test('a form and a file have types of their own', () => {
    const at = (path: string, method: string): JsonObject => objectAt(objectAt(objectAt(document, 'paths'), path), method)
    expect(at('/api/v1/files', 'post')).toMatchObject({
      requestBody: { required: true, content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/UploadFileForm' } } } },
      security: [{ bearer: [] }, { apiKey: [] }, { session: [], sessionHalf: [] }],
    })
    expect(at('/api/v1/files/{file_id}/content', 'get')).toMatchObject({
      responses: { 200: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } } },
    })
  })

  test('every error example fits the error body of its surface', () => {
    const surfaces: Record<string, Surface> = { Management: 'management', Chat: 'chat', Responses: 'responses', Messages: 'messages' }
    for (const [name, response] of entriesOf(objectAt(objectAt(document, 'components'), 'responses'))) {
      const surface = surfaces[name.replace(/\d.*/, '')]!
      const examples = entriesOf(objectAt(objectAt(objectAt(response, 'content'), 'application/json'), 'examples'))
      expect(examples.length).toBeGreaterThan(0)
      for (const [label, example] of examples) {
        expect({ name, label, error: ERROR_SCHEMAS[surface].safeParse(example['value']).error?.message }).toEqual({
          name,
          label,
          error: undefined,
        })
      }
    }
  })

  test('lists all error types', () => {
    expect(listAt(objectAt(objectAt(objectAt(document, 'components'), 'schemas'), 'ErrorType'), 'enum')).toEqual(ERROR_TYPES)
    expect(listAt(document, 'x-error-types')).toHaveLength(ERROR_TYPES.length)
  })

  test('inference answers as JSON and as a stream that ends with [DONE], and says so in headers', () => {
    const operation = objectAt(objectAt(objectAt(document, 'paths'), '/api/v1/messages'), 'post')
    const answer = objectAt(objectAt(operation, 'responses'), '200')
    expect(Object.keys(objectAt(answer, 'content'))).toEqual(['application/json', 'text/event-stream'])
    expect(textAt(objectAt(objectAt(answer, 'content'), 'text/event-stream'), 'example')).toEndWith('data: [DONE]\n\n')
    expect(Object.keys(objectAt(answer, 'headers'))).toContain('X-Generation-Id')
    expect(Object.keys(objectAt(answer, 'headers'))).toContain('X-Preset')
  })

  test('is made in a step for each schema and each operation, between which other requests get their turn', () => {
    const operations = Object.values(objectAt(document, 'paths')).flatMap((item) => Object.keys(item as JsonObject))
    expect([...describing(mounts, info)].length).toBeGreaterThan(2 * operations.length)
  })

  test('is the same for the same routes', async () => {
    expect(JSON.stringify(openapiDocument(await describedMounts(), info))).toBe(text)
  })
})

describe('what a policy says', () => {
  test('public: no security, no 401', () => {
    expect(describedOperation({})['security']).toEqual([])
    expect(statuses({})).toEqual(['200', '500'])
  })

  test('any key: either header or both halves of a session, 401 and 403, since a session is refused to pages of other origins', () => {
    expect(describedOperation({ policy: 'any-key' })['security']).toEqual([
      { bearer: [] },
      { apiKey: [] },
      { session: [], sessionHalf: [] },
    ])
    expect(statuses({ policy: 'any-key' })).toEqual(['200', '401', '403', '500'])
  })

  for (const policy of ['management', 'inference'] as const) {
    test(`${policy}: its kind of key in either header, 401 and 403`, () => {
      expect(listAt(describedOperation({ policy }), 'security').slice(0, 2)).toEqual([{ bearer: [policy] }, { apiKey: [policy] }])
      expect(statuses({ policy })).toEqual(['200', '401', '403', '500'])
    })
  }

  test('management: an admin who is signed in; own: a member too; session: nobody else', () => {
    expect(listAt(describedOperation({ policy: 'management' }), 'security')[2]).toEqual({ session: ['admin'], sessionHalf: [] })
    expect(listAt(describedOperation({ policy: 'own' }), 'security')[2]).toEqual({ session: [], sessionHalf: [] })
    expect(describedOperation({ policy: 'session' })['security']).toEqual([{ session: [], sessionHalf: [] }])
  })

  test('a 403 tells the kind of key that was missing', () => {
    for (const [policy, message] of [
      ['management', MANAGEMENT_KEY_REQUIRED],
      ['inference', INFERENCE_KEY_REQUIRED],
    ] as const) {
      const document = openapiDocument([{ base: '', routes: [route({ policy })] }], info)
      expect(JSON.stringify(objectAt(objectAt(document, 'components'), 'responses'))).toContain(message)
    }
  })
})

describe('error statuses', () => {
  test('a body adds 400 and 413', () => {
    expect(statuses({ method: 'POST', body: z.object({}) })).toEqual(['200', '400', '413', '500'])
    expect(statuses({ method: 'POST', surface: 'chat', body: z.object({}) })).toEqual(['200', '400', '413', '500'])
  })

  test('405 is left out, and an answer of the route itself stays', () => {
    expect(statuses({ errors: [405, 503], answers: { 200: { description: '' }, 503: { description: 'Not ready.' } } })).toEqual([
      '200',
      '500',
      '503',
    ])
  })

  test('management errors say the fixed message of their status', () => {
    const errors = Object.keys(MANAGEMENT_MESSAGES).map(Number)
    const document = openapiDocument([{ base: '', routes: [route({ errors })] }], info)
    for (const [name, response] of entriesOf(objectAt(objectAt(document, 'components'), 'responses'))) {
      const [, example] = entriesOf(objectAt(objectAt(objectAt(response, 'content'), 'application/json'), 'examples'))[0]!
      const error = objectAt(objectAt(example, 'value'), 'error')
      expect({ name, message: error['message'] }).toEqual({ name, message: MANAGEMENT_MESSAGES[Number(error['code'])]! })
    }
  })

  test('402, 429 and 503 may carry Retry-After, others do not', () => {
    const document = openapiDocument([{ base: '', routes: [route({ errors: [402, 404, 429, 502, 503], surface: 'chat' })] }], info)
    const responses = entriesOf(objectAt(objectAt(document, 'components'), 'responses'))
    const waiting = responses.filter(([, response]) => 'Retry-After' in objectAt(response, 'headers')).map(([name]) => name)
    expect(waiting).toEqual(['Chat402', 'Chat429', 'Chat503'])
  })
})

describe('schemas', () => {
  const shared = z.object({ size: z.int().default(1) }).meta({ id: 'Shared' })
  const holder = z.object({ shared }).meta({ id: 'Holder' })

  test('a named schema that reads and writes differently has two names, and so has what holds it', () => {
    const both = schemasOf([route({ method: 'POST', body: holder, answers: { 200: { description: '', schema: holder } } })])
    expect(Object.keys(both).filter((name) => /Shared|Holder/.test(name))).toEqual(['Holder', 'HolderInput', 'Shared', 'SharedInput'])
    expect(JSON.stringify(both['HolderInput'])).toContain('schemas/SharedInput"')
    expect(objectAt(both, 'Shared')['required']).toEqual(['size'])
    expect(objectAt(both, 'SharedInput')['required']).toBeUndefined()
  })

  test('a named schema that does not differ has one name', () => {
    const plain = z.object({ name: z.string() }).meta({ id: 'Plain' })
    const both = schemasOf([route({ method: 'POST', body: plain, answers: { 200: { description: '', schema: plain } } })])
    expect(Object.keys(both).filter((name) => name.startsWith('Plain'))).toEqual(['Plain'])
  })

  test('two schemas of one name are refused, in one direction and across them', () => {
    const one = z.object({ a: z.string() }).meta({ id: 'Twin' })
    const other = z.object({ b: z.string() }).meta({ id: 'Twin' })
    const answering = (schema: z.ZodType): Route['answers'] => ({ 200: { description: '', schema } })
    expect(() => schemasOf([route({ method: 'POST', body: one, answers: answering(other) })])).toThrow('Twin')
    expect(() => schemasOf([route({ answers: answering(one) }), route({ operation: 'other', answers: answering(other) })])).toThrow('Twin')
  })

  test('two routes with one operation id are refused', () => {
    expect(() => schemasOf([route({}), route({ path: '/others' })])).toThrow('listThings')
  })

  test('parameters tell whether they are required, and no header stands where OpenAPI has another place for it', () => {
    const operation = describedOperation({
      path: '/things/:id',
      params: { id: z.string().meta({ description: 'Which.' }) },
      query: { limit: z.string().optional(), of: z.string() },
      headers: { authorization: z.string(), 'X-Trace': z.string().optional() },
    })
    expect(listAt(operation, 'parameters')).toEqual([
      { name: 'id', in: 'path', required: true, description: 'Which.', schema: { type: 'string' } },
      { name: 'limit', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'of', in: 'query', required: true, schema: { type: 'string' } },
      { name: 'X-Trace', in: 'header', required: false, schema: { type: 'string' } },
    ])
  })

  test('a path parameter without a schema is text', () => {
    expect(listAt(describedOperation({ path: '/files/*' }), 'parameters')).toEqual([
      { name: 'rest', in: 'path', required: true, schema: { type: 'string' } },
    ])
  })
})
