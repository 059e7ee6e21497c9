/** `channel_binding=require` of a database URL, with the meaning of libpq (decisions/0245). */
import type { Connection } from 'pg'

const BOUND = 'SCRAM-SHA-256-PLUS'
const REFUSAL = 'it does not bind the password to its certificate, which channel_binding=require of the database URL asks for'

/**
 * Ends a connection that is about to be made without a proof by the server that it knows the password, bound to the certificate that this
 * side has seen. It gets nothing of the password then. The driver checks the proof itself, but only if the server gives one.
 */
export const requireChannelBinding = (connection: Connection): void => {
  let isProven = false
  const refuse = (): void => {
    // As the driver does it: whoever waits for the connection gets the reason at once, even if the server says in the same packet that it is ready.
    connection.emit('error', new Error(REFUSAL))
    connection.stream.destroy()
  }
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (!mechanisms.includes(BOUND)) refuse()
  })
  connection.on('authenticationSASLFinal', () => (isProven = true))
  connection.on('authenticationCleartextPassword', refuse)
  connection.on('authenticationMD5Password', refuse)
  connection.on('authenticationOk', () => {
    if (!isProven) refuse()
  })
}
