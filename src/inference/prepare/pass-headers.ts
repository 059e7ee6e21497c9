/** Passes on the client's headers that are meant for Anthropic, and no others. None of them affects where a request goes. */
import type { Call } from '../../canonical/call.ts'
import { textsIn } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { VendorHeaders } from '../request.ts'

export const withPassHeaders = (call: Call, vendor: VendorHeaders | null): Call => {
  if (vendor === null) return call
  const betas = betasOf(call.body, vendor)
  const named = { 'anthropic-version': vendor.version ?? '', 'anthropic-beta': betas.join(',') }
  const passed = Object.entries(named).filter(([, value]) => value !== '' && value.length <= PASSED_MAX)
  return passed.length === 0 ? call : { ...call, passHeaders: Object.fromEntries(passed) }
}

const PASSED_MAX = 1000

/**
 * Each beta once, wherever the client names it: SDKs send the header, other programs a field of the body
 * (docs/contract/messages.md#request).
 */
const betasOf = (body: JsonBody, { betas }: VendorHeaders): readonly string[] => {
  const listed = betas.flatMap((list) => list?.split(',') ?? [])
  const all = [...listed, ...textsIn(body.value('betas'))].map((name) => name.trim())
  return [...new Set(all)].filter((name) => BETA.test(name))
}

/** Characters that are valid in a header. */
const BETA = /^[\w.:-]{1,100}$/
