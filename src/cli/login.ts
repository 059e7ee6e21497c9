/** `patchbay login`: a link that signs a person in. It works on storage directly, whether the service is running or not. */
import { readConfigFile } from '../config-file.ts'
import { type Environment, SettingError, type StorageSettings } from '../config.ts'
import { createLoginLinkBody } from '../contract/session.ts'
import { LINK_SECONDS } from '../contract/sign-in.ts'
import { validate } from '../contract/validate.ts'
import { systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { derivedKeys } from '../root-secret.ts'
import { createLoginLinks, loginUrl, signInPlace } from '../sign-in/login-links.ts'
import { createSessionStore } from '../storage/workspaces/session-store.ts'
import { withFlagNames } from './flag-names.ts'
import { fromShell } from './from-shell.ts'
import { namedWorkspace } from './named-workspace.ts'
import { printWhole } from './print.ts'
import { withStorage } from './with-storage.ts'

interface LoginFlags {
  readonly user?: string
  readonly role?: string
  readonly workspace?: string
}

const ROLES = ['admin', 'member'] as const
/** The default address of a service that has not run yet. */
const DEFAULT_ADDRESS = 'http://127.0.0.1:8080'

export const loginVerb = async (settings: StorageSettings, flags: LoginFlags, env: Environment): Promise<void> => {
  const { dashboard, server } = readConfigFile(settings.config, env)
  if (!dashboard) throw new SettingError('people cannot sign in: the file says dashboard: false.')
  const role = ROLES.find((known) => known === flags.role) ?? null
  if (flags.role !== undefined && role === null)
    throw new SettingError(`--role must be admin or member (it is ${JSON.stringify(flags.role)}).`)
  await withStorage(settings, async (storage) => {
    const { database, owner, secret } = storage
    const { user_id: userId } = await withFlagNames({ user_id: '--user' }, () =>
      validate(createLoginLinkBody, { user_id: flags.user ?? owner.userId }),
    )
    const workspaceId = flags.workspace === undefined ? owner.workspaceId : await namedWorkspace(database, flags.workspace)
    const peppers = derivedKeys(secret, 'sign-in')
    const links = createLoginLinks({ store: createSessionStore(database), clock: systemClock, ids: systemIds, peppers: () => peppers })
    const { token } = await links.make(
      { workspaceId, userId, role: flags.user === undefined ? 'admin' : role, expiresInSeconds: LINK_SECONDS },
      fromShell(owner.userId),
    )
    const place = signInPlace(server.public_url, (await storage.address()) ?? DEFAULT_ADDRESS)
    // Only the link is written to stdout, for scripts.
    await printWhole(`${loginUrl(place, token)}\n`)
    process.stderr.write('It works once, for 15 minutes.\n')
  })
}
