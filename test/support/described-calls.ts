/** Calls of operations, built only from the OpenAPI description of a running service. */
import { type Answer, call } from './calls.ts'
import type { StartedService } from './started-service.ts'

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> }
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>> }
}

/**
 * By operation id: a create operation sends the example of its body; a change or delete operation uses the id of an object that was just
 * created. Operations of other forms are left out.
 */
export const describedCalls = async (service: StartedService): Promise<Readonly<Record<string, () => Promise<Answer>>>> => {
  const { paths, components } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description
  const exampleOf = ({ requestBody }: Operation): unknown => {
    const reference = requestBody?.content['application/json']?.schema.$ref ?? ''
    return components.schemas[reference.split('/').at(-1) ?? '']?.examples?.[0]
  }
  const send = (method: string, path: string, operation: Operation): Promise<Answer> =>
    call(service, method.toUpperCase(), path.replace('/api/v1', ''), { body: exampleOf(operation) })
  const calls: Record<string, () => Promise<Answer>> = {}
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const collection = path.replace(/\/\{id\}$/, '')
      const create = paths[collection]?.['post']
      if (method === 'get' || collection.includes('{') || create === undefined) continue
      calls[operation.operationId] = async () => {
        if (method === 'post') return send(method, path, operation)
        const made = (await send('post', collection, create)).json as { readonly data?: { readonly id: string } }
        return send(method, path.replace('{id}', made.data?.id ?? 'none'), operation)
      }
    }
  }
  return calls
}
