/**
 * Patches for the client's files. The client applies a well-formed patch, so the turn ends with it; a malformed one goes back to
 * the model. The function and its patch format are those of OpenAI's own tool of the same name (decisions/0040).
 */
import { builtInCall, builtInFunction } from '../canonical/built-in-tools.ts'
import { failed, type MakeTool } from './tool.ts'

export const applyPatchTool: MakeTool = () => {
  const { description, parameters } = builtInFunction('apply_patch', {})
  return {
    description,
    parameters,
    async run(input) {
      const fault = faultOf(input)
      if (fault !== null) return failed('invalid_tool_input', fault)
      const { type = null, path = null } = input
      return { fault: null, value: { operation: { type, path }, status: 'given to the client' }, endsTurn: true }
    },
  }
}

const PATH_MAX = 4096

const faultOf = (input: Readonly<Record<string, unknown>>): string | null => {
  const { type, path, diff } = input
  if (builtInCall('apply_patch', JSON.stringify(input)) === null) return 'A patch needs type, path and, but to delete a file, diff.'
  if (typeof path === 'string' && path.trim() === '') return 'The path is empty.'
  if (typeof path === 'string' && (path.includes('\0') || path.length > PATH_MAX))
    return `The path has a NUL or more than ${PATH_MAX} characters.`
  if (type === 'create_file' && typeof diff === 'string') {
    const wrong = linesOf(diff).findIndex((line) => !line.startsWith('+'))
    return wrong < 0 ? null : `Line ${wrong + 1} of a new file does not begin with "+".`
  }
  if (type === 'update_file' && typeof diff === 'string') {
    const lines = linesOf(diff)
    const wrong = lines.findIndex((line) => line !== '' && !/^(?:@@|[ +-]|\*\*\* End of File)/.test(line))
    if (wrong >= 0) return `Line ${wrong + 1} of the change does not begin with "@@", " ", "+" or "-".`
    return lines.some((line) => /^[+-]/.test(line)) ? null : 'The change changes no line.'
  }
  return null
}

const linesOf = (diff: string): readonly string[] => diff.replace(/\n$/, '').split('\n')
