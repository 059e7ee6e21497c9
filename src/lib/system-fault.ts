/** Why a connection or a file failed, in brackets behind a sentence: the code of the operating system where there is one. */
export const systemFault = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  const { code } = thrown as NodeJS.ErrnoException
  return typeof code === 'string' ? code : thrown.message
}
