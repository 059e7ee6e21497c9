/** Up to where a recorded stream may be cut and has not ended. */
import { type Recording, streamBytes } from './recordings.ts'

/** The event that says how the answer ended; from its last byte on the answer is complete. */
const isTerminal = ({ dialect }: Recording, payload: string): boolean => {
  switch (dialect) {
    case 'openai-chat':
      return /"finish_reason":"/.test(payload)
    case 'openai-responses':
      return /^\{"type":"response\.(?:completed|incomplete)"/.test(payload)
    case 'anthropic':
      return /"stop_reason":"/.test(payload)
    case 'bedrock':
      return payload.startsWith('{"messageStop"')
    case 'google':
      return payload.includes('"finishReason"')
  }
}

/** How many bytes are there when the model has ended; the blank line behind the event may be missing. */
export const bytesUntilEnd = (recording: Recording): number => {
  const { dialect, payloads, bytes } = recording
  const last = payloads.findIndex((payload) => isTerminal(recording, payload))
  if (last < 0) return bytes.length
  const begun = streamBytes(dialect, payloads.slice(0, last + 1), true)
  return dialect === 'bedrock' ? begun.length : Buffer.byteLength(new TextDecoder().decode(begun).trimEnd())
}
