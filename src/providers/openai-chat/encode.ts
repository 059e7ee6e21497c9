/** A request for an upstream of this dialect: a client's own JSON with only what we own replaced, or the conversation of another dialect. */
import type { JsonObject } from '../../lib/json.ts'
import type { Attempt } from '../provider.ts'
import { translate, type Translation } from '../translation.ts'
import type { Vendor } from '../vendor.ts'
import { vendorOf } from '../vendors.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { messageContext } from './message-context.ts'
import { relayRequest } from './relay-request.ts'

export const encodeChatRequest = (attempt: Attempt): string => {
  const { call, target, warn } = attempt
  const vendor = vendorOf(target.provider)
  if (call.dialect === 'chat') return relayRequest(attempt, vendor)
  const translation = translate(call.prompt(), 'openai-chat', target.providerName, warn, { takesText: vendor.customTools })
  return JSON.stringify({
    model: target.upstreamModel,
    ...encodePrompt(translation, attempt, vendor),
    ...(call.stream ? { stream: true, ...(vendor.streamOptions ? { stream_options: { include_usage: true } } : {}) } : {}),
  })
}

/** All that is translated; the encoder reads no setting elsewhere. */
export const encodePrompt = (translation: Translation, { call, target, warn }: Attempt, vendor: Vendor): JsonObject => {
  const context = messageContext(target, vendor, translation.lose)
  return {
    messages: encodeMessages(translation.prompt.messages, context),
    ...encodeSettings(translation, { vendor, providerName: target.providerName, warn }),
    // Behind the settings: what a tool asks a vendor for says more than the option of the same name.
    ...encodeTools(translation, context),
    ...encodeFormat(translation, call.dialect, vendor),
  }
}
