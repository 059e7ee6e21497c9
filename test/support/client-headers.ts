/** The identifying headers of the clients, as recorded from each of them. */
type Reported = Readonly<Record<string, string>>

const stainless = (lang: string, version: string): Reported => ({
  'x-stainless-lang': lang,
  'x-stainless-package-version': version,
  'x-stainless-os': 'Linux',
  'x-stainless-arch': 'x64',
  'x-stainless-retry-count': '0',
})

/** These clients break if a 200 response contains an error. */
export const NEED_STATUS: Readonly<Record<string, Reported>> = {
  'openai-python 3.54.0': { 'user-agent': 'OpenAI/Python 3.54.0', ...stainless('python', '3.54.0') },
  'openai-python 3.54.0, async': { 'user-agent': 'AsyncOpenAI/Python 3.54.0', ...stainless('python', '3.54.0') },
  'anthropic-python 2.12.0': { 'user-agent': 'Anthropic/Python 2.12.0', ...stainless('python', '2.12.0') },
  'langchain-openai 1.7.3': { 'user-agent': 'OpenAI/Python 3.54.0', ...stainless('python', '3.54.0'), 'x-stainless-raw-response': 'true' },
  'langchain-anthropic 1.7.7': { 'user-agent': 'langchain-anthropic/1.7.7', ...stainless('python', '2.12.0') },
  'litellm 1.110.2, anthropic': { 'user-agent': 'litellm/1.110.2', 'anthropic-version': '2023-06-01' },
  'litellm 1.110.2, openrouter': { 'user-agent': 'litellm/1.110.2', 'http-referer': 'https://litellm.ai', 'x-title': 'liteLLM' },
  'DSPy 3.4.1': { 'user-agent': 'lm15/stdlib' },
  'DSPy 3.4.1, through LiteLLM': { 'user-agent': 'DSPy/3.4.1' },
  'pydantic-ai 2.68.0': { 'user-agent': 'pydantic-ai/2.68.0', ...stainless('python', '3.54.0') },
  'openai-agents 0.24.0': { 'user-agent': 'Agents/Python 0.24.0', ...stainless('python', '3.54.0') },
  'aider 0.86.2': { 'user-agent': 'OpenAI/Python 2.20.0', ...stainless('python', '2.20.0') },
  'openai 7.59.0': { 'user-agent': 'OpenAI/JS 7.59.0', ...stainless('js', '7.59.0') },
  '@anthropic-ai/sdk 1.14.0': { 'user-agent': 'Anthropic/JS 1.14.0', ...stainless('js', '1.14.0') },
  '@langchain/openai 1.6.0': {
    'user-agent': 'langchainjs-openai/1.0.0 ((node/v20.20.2; linux; x64))',
    ...stainless('js', '7.57.0'),
  },
  '@langchain/openrouter 0.4.11': { 'user-agent': 'node', 'http-referer': 'https://docs.langchain.com', 'x-title': 'LangChain' },
  '@openrouter/sdk 1.3.19': { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk' },
  'ai 5.0.277': { 'user-agent': 'ai/5.0.277 ai-sdk/provider-utils/3.0.39 runtime/node.js/v20.20.2' },
  'ai 5.0.277, @openrouter/ai-sdk-provider': { 'user-agent': 'ai/5.0.277' },
  'ai 6.0.326': { 'user-agent': 'ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/v20.20.2' },
  'ai 7.0.173': { 'user-agent': 'ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/v20.20.2' },
  'openai-go 3.99.0': { 'user-agent': 'OpenAI/Go 3.99.0', ...stainless('go', '3.99.0') },
  'anthropic-sdk-go 2.15.0': { 'user-agent': 'Anthropic/Go 2.15.0', ...stainless('go', '2.15.0') },
  'Claude Code 2.1.197': {
    'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
    'x-app': 'cli',
    'anthropic-version': '2023-06-01',
    ...stainless('js', '0.94.0'),
  },
  'Codex 0.169.0': {
    originator: 'codex_exec',
    'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)',
  },
  'portkey-ai 3.1.0 for JavaScript': { 'user-agent': 'node', 'x-portkey-package-version': 'portkey-3.1.0', 'x-portkey-runtime': 'node' },
  'promptfoo 0.123.1': { 'user-agent': 'node', 'x-promptfoo-version': '0.123.1' },
  'Mistral Vibe 3.0.2': { 'user-agent': 'python-httpx/0.28.1', 'x-affinity': '8a9d692d-95e8-1db5-98d9-29c54f65667c' },
  'BAML 0.226.2': { 'baml-original-url': 'http://127.0.0.1:8080/api/v1' },
  'huggingface_hub 2.4.0': { 'user-agent': 'unknown/None; hf_hub/2.4.0; python/3.11.7' },
  '@huggingface/inference 4.13.30': { 'user-agent': '@huggingface/inference/4.13.30' },
  'mistralai 3.7.0': { 'user-agent': 'mistral-client-python/3.7.0' },
  '@mistralai/mistralai 2.7.0': { 'user-agent': 'mistral-client-typescript/2.7.0' },
  'openrouter 1.3.84 for Python': { 'user-agent': 'speakeasy-sdk/python 1.3.84 2.914.0 1.0.0 openrouter' },
  'azure-ai-inference 1.0.0b9': { 'user-agent': 'azsdk-python-ai-inference/1.0.0b9 Python/3.11.7 (Linux-6.18.44-x86_64-with-glibc2.36)' },
  '@azure-rest/ai-inference 1.0.0-beta.6': {
    'user-agent': 'azsdk-js-ai-inference-rest/1.0.0-beta.6 core-rest-pipeline/1.24.0 Node/20.20.2 (Linux 6.18.44; x64)',
  },
  'opencode 1.18.33': { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14' },
}

/** Programs that read the body themselves, and some that look like one of those above. */
export const READ_BODY: Readonly<Record<string, Reported>> = {
  curl: { 'user-agent': 'curl/8.5.0' },
  'fetch of Node.js': { 'user-agent': 'node' },
  'fetch of Bun': { 'user-agent': 'Bun/1.4.5' },
  'Python requests': { 'user-agent': 'python-requests/2.32.3' },
  httpx: { 'user-agent': 'python-httpx/0.28.1' },
  aiohttp: { 'user-agent': 'Python/3.11 aiohttp/3.12.15' },
  'the Go standard library': { 'user-agent': 'Go-http-client/2.0' },
  'a browser': { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36' },
  'a program whose name ends like a client': { 'user-agent': 'my-openai/1.0 xopencode/2 (notcodex)' },
  'no name at all': { 'user-agent': '' },
}
