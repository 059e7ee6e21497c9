/** Edits the conversation to send, turn by turn. */
import { Button } from '../parts/button.tsx'
import type { PresetShape } from '../api/presets.ts'
import { INTERFACE_NAMES, type Message } from './conversation-input.ts'

interface MessagesEditorProps {
  readonly messages: readonly Message[]
  /** The interface to which they are sent. */
  readonly interface: PresetShape
  readonly onChange: (messages: readonly Message[]) => void
}

export const MessagesEditor = ({ messages, interface: dialect, onChange }: MessagesEditorProps) => {
  const replace = (index: number, message: Message): void => onChange(messages.map((one, at) => (at === index ? message : one)))
  const remove = (index: number): void => onChange(messages.filter((_, at) => at !== index))
  const last = messages.at(-1)
  return (
    <div className="messages">
      {messages.map((message, index) => (
        <div className="message" key={index}>
          {message.role === 'raw' ? (
            <span className="soft message-raw">
              {message.interface === dialect ? '' : `Not sent, since it is of ${INTERFACE_NAMES[message.interface]}: `}
              {message.title}
            </span>
          ) : (
            <>
              <select
                aria-label={`Role of message ${index + 1}`}
                value={message.role}
                onChange={(event) => replace(index, { role: event.target.value === 'user' ? 'user' : 'assistant', text: message.text })}
              >
                <option value="user">user</option>
                <option value="assistant">assistant</option>
              </select>
              <textarea
                aria-label={`Message ${index + 1}`}
                rows={Math.min(12, Math.max(2, message.text.split('\n').length))}
                value={message.text}
                onChange={(event) => replace(index, { role: message.role, text: event.target.value })}
              />
            </>
          )}
          {messages.length === 1 ? null : (
            <button type="button" className="icon-button" aria-label={`Remove message ${index + 1}`} onClick={() => remove(index)}>
              ×
            </button>
          )}
        </div>
      ))}
      <Button kind="quiet" onClick={() => onChange([...messages, { role: last?.role === 'user' ? 'assistant' : 'user', text: '' }])}>
        + Message
      </Button>
    </div>
  )
}
