/** A rotation of the root secret that is killed before the step named by the last argument. */
import { readSettings, STORAGE_SETTINGS } from '../../config.ts'
import { rotateSecretVerb } from '../secret.ts'

const [dataDir = '', killedBefore = ''] = process.argv.slice(2)

await rotateSecretVerb(readSettings(STORAGE_SETTINGS, { dataDir }, {}), (step) => {
  if (step === killedBefore) process.kill(process.pid, 'SIGKILL')
})
