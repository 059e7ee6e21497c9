/** The meaning of each error type and what a client should do about it, as in docs/errors.md. */
import type { ErrorType } from '../src/errors.ts'

interface Advice {
  readonly meaning: string
  readonly advice: string
}

export const ERROR_ADVICE: Readonly<Record<ErrorType, Advice>> = {
  context_length_exceeded: {
    meaning: 'The prompt and the room for the answer do not fit into the context window of the model.',
    advice: 'Shorten the history or choose a model with a larger window. The same request fails again.',
  },
  max_tokens_exceeded: {
    meaning: 'The provider gave up because the answer reached `max_tokens` or the output limit of the model.',
    advice: 'Raise the limit, or ask for less.',
  },
  token_limit_exceeded: {
    meaning: 'A budget of tokens was used up.',
    advice: 'Wait for its next window, or raise the budget.',
  },
  string_too_long: {
    meaning: 'One string of the request is longer than the provider takes.',
    advice: 'Split or shorten the field that the message names.',
  },
  authentication: {
    meaning: 'The API key is missing, malformed, unknown, disabled, revoked or expired.',
    advice: 'Send a valid key as `Authorization: Bearer …` or `x-api-key`. Do not retry with the same one.',
  },
  permission_denied: {
    meaning: 'The key may not do this, or a guardrail or a budget stopped the request.',
    advice: 'Read `metadata`: `patterns` is a guardrail, `limit_source` a budget. Otherwise use a key of the other kind.',
  },
  payment_required: {
    meaning: 'The credits are used up, or what is being spent at this moment fills the allowance.',
    advice: 'With `Retry-After`: wait that long. Without it: add credits.',
  },
  rate_limit_exceeded: {
    meaning: 'Too many requests or tokens in too little time.',
    advice: 'Wait for `Retry-After` seconds; without it, wait with growing pauses.',
  },
  provider_overloaded: {
    meaning: 'The provider has no room now, or no provider fits the request.',
    advice: 'Wait for `Retry-After` seconds or with growing pauses. `metadata.excluded_by` names the filters that left no provider.',
  },
  provider_unavailable: {
    meaning: 'The provider is down, broke off, sent something that is no answer, or refused the credential of this service.',
    advice: 'Retry, or name a fallback model. Where the credential was refused, the operator has to act.',
  },
  invalid_request: {
    meaning: 'A parameter is missing, malformed or out of range.',
    advice: 'Correct what the message names; a refusal by Patchbay itself lists the faults in `metadata.issues`.',
  },
  invalid_prompt: {
    meaning: 'One of the messages is not one that the provider takes: a wrong role, a result without its call, an empty text.',
    advice: 'Correct the message that is named.',
  },
  not_found: {
    meaning: 'The model, preset, file or route does not exist.',
    advice: 'Check the name; for a model the message suggests near ones.',
  },
  precondition_failed: {
    meaning: 'A precondition header of the request was not satisfied.',
    advice: 'Read the resource again and repeat the request with its state, or leave the header out.',
  },
  payload_too_large: {
    meaning: 'The body is larger than this service or the provider takes.',
    advice: 'Send less: smaller images, links instead of data. `metadata.max_bytes` is the limit of this service.',
  },
  unprocessable: {
    meaning: 'The request is well formed, and the provider cannot make sense of it.',
    advice: 'Correct what the message names.',
  },
  content_policy_violation: {
    meaning: 'A filter of the provider flagged the input or the output.',
    advice: 'Change the content; `metadata.reasons` and `metadata.flagged_input` name what was flagged.',
  },
  refusal: {
    meaning: 'The provider reports as an error that the model refused; the message is its explanation.',
    advice: 'Show the explanation. Repeating the request does not help.',
  },
  invalid_image: { meaning: 'An image is corrupt or unreadable.', advice: 'Send another file; check that its base64 is whole.' },
  image_too_large: { meaning: 'An image has too many bytes or pixels for the provider.', advice: 'Scale it down.' },
  image_too_small: { meaning: 'An image is smaller than the provider takes.', advice: 'Send a larger one.' },
  unsupported_image_format: { meaning: 'The provider does not read this image format.', advice: 'Convert it to PNG or JPEG.' },
  image_not_found: { meaning: 'An image address or file id leads to nothing.', advice: 'Check the address or the id.' },
  image_download_failed: {
    meaning: 'The provider could not download the image.',
    advice: 'Make the address public, or send the image as data.',
  },
  server: {
    meaning: 'Something failed that should not; the answer says nothing of the cause, the log does.',
    advice: 'Retry with growing pauses. If it stays, give the operator the `X-Request-Id`.',
  },
  timeout: {
    meaning: 'The provider did not begin, go on or finish in time.',
    advice: 'Retry, name a fallback model, or ask for a stream.',
  },
  unmapped: {
    meaning: 'The provider failed in a way that this service has no name for; `metadata.provider_code` is its own.',
    advice: 'Retry once. Report the code if it comes back.',
  },
}
