/**
 * Services of the code under test in one process: only the first of them pays for code that has not run yet, which is nearly all that the
 * start of a service costs. It takes a HostCall at a time and answers each with a HostAnswer.
 */
import { makeFirstKeys } from '../../../src/cli/first-keys.ts'
import { openService } from '../../../src/compose/open-service.ts'
import { readConfigFile } from '../../../src/config-file.ts'
import { readSettings, SERVE_SETTINGS } from '../../../src/config.ts'
import { listen } from '../../../src/http/server.ts'
import { signInPlace } from '../../../src/sign-in/login-links.ts'
import type { HostAnswer, HostCall, HostedAddress } from '../hosted-services.ts'

/** How to stop the service of each data directory. */
const stops = new Map<string, () => Promise<void>>()
/** Ports of stopped services, which later ones use: a browser has the scripts of their addresses, compiled. */
const freePorts: string[] = []

const start = async (dataDir: string, config: string): Promise<HostedAddress> => {
  const settings = readSettings(SERVE_SETTINGS, { dataDir, config, port: freePorts.pop() ?? '0', logLevel: 'silent' }, {})
  const file = readConfigFile(settings.config, {})
  const service = await openService(settings, file, {})
  const server = listen({ host: settings.host, port: settings.port, shared: false, app: service.app, onError: raise })
  await service.noteAddress(server.url)
  const keys = (await service.claimFirstStart())
    ? await makeFirstKeys(service, file.dashboard ? signInPlace(file.server.public_url, server.url) : null)
    : null
  stops.set(dataDir, async () => {
    service.beginDrain(0)
    server.stopAccepting()
    service.endRuns()
    await server.close()
    await service.close()
    freePorts.push(new URL(server.url).port)
  })
  return { url: server.url, managementKey: keys?.management ?? '', inferenceKey: keys?.inference ?? '' }
}

/** Does nothing if the service was stopped before. */
const stopNow = async (dataDir: string): Promise<void> => {
  const stop = stops.get(dataDir)
  stops.delete(dataDir)
  await stop?.()
}

const raise = (thrown: unknown): void => {
  throw thrown
}

const answerTo = async ({ id, start: started, stop }: HostCall): Promise<HostAnswer> => {
  try {
    if (stop !== undefined) await stopNow(stop)
    return { id, started: started === undefined ? null : await start(started.dataDir, started.config), fault: null }
  } catch (thrown) {
    return { id, started: null, fault: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }
  }
}

process.on('message', (call: HostCall) => void answerTo(call).then((answer) => process.send?.(answer)))
// The tests have ended, or were ended.
process.on('disconnect', () => process.exit())
