/** Errors about a body that was made from flags name the body's fields; a person at a shell knows the flags. */
import { SettingError } from '../config.ts'
import { GatewayError } from '../errors.ts'

/** `flags` maps fields to flags. Throws SettingError in place of `invalid_request`. */
export const withFlagNames = async <Result>(
  flags: Readonly<Record<string, string>>,
  work: () => Result | Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.type !== 'invalid_request') throw thrown
    throw new SettingError(
      thrown.message.replaceAll(/(^|; )([a-z_]+):/g, (whole, before: string, field: string) => {
        const flag = flags[field]
        return flag === undefined ? whole : `${before}${flag}:`
      }),
    )
  }
}
