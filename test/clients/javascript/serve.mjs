/** The side of a driver that speaks to the suite: cases on stdin, a line for each outcome on stdout. */
import { text } from 'node:stream/consumers'

/** `ask(case, setting)` returns the last text of the model, or throws what the library throws. */
export const serve = async (ask) => {
  const setting = JSON.parse(await text(process.stdin))
  for (const one of setting.cases) {
    const outcome = await ask(one, setting).then(
      (said) => ({ text: said }),
      (thrown) => ({ error: `${thrown?.name}: ${thrown?.message}` }),
    )
    process.stdout.write(`OUTCOME ${JSON.stringify({ id: one.id, ...outcome })}\n`)
  }
}

export const TOOLS = [
  { name: 'get_weather', parameter: 'city', description: 'Weather of a city.', run: ({ city }) => `Weather in ${city}: mild` },
  { name: 'get_time', parameter: 'zone', description: 'Time in a zone.', run: ({ zone }) => `Time in ${zone}: noon` },
].map((tool) => ({
  ...tool,
  parameters: { type: 'object', properties: { [tool.parameter]: { type: 'string' } }, required: [tool.parameter] },
}))

export const runTool = (name, args) => TOOLS.find((tool) => tool.name === name).run(typeof args === 'string' ? JSON.parse(args) : args)

export const TURNS_MAX = 5
