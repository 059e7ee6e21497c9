/** The configuration of a service with one provider and one model, `fake/good`. */
import type { FakeUpstream } from '../../test/support/fake-upstream.ts'

/** `more`: further members of the model's endpoint. */
export const oneProvider = ({ url }: FakeUpstream, more = ''): string => `
sandbox: false
providers:
  good: { name: Good, dialects: [openai-chat], base_url: "${url}", api_key: sk-upstream-secret-0123456789 }
models:
  fake/good: { endpoints: [{ provider: good, model: up${more === '' ? '' : `, ${more}`} }] }
`
