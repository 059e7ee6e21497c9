/**
 * Why a connection or a file failed, to append to a sentence in brackets: the operating system's
 * error code if there is one, otherwise the message.
 */
export const systemFault = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  const { code } = thrown as NodeJS.ErrnoException
  return typeof code === 'string' ? code : thrown.message
}
