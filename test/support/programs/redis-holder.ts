/** Starts a Redis, prints its address, and waits to be killed. */
import { startRedis } from '../redis.ts'

const { url } = await startRedis()
console.log(url)
await new Promise((resolve) => process.stdin.once('end', resolve).resume())
