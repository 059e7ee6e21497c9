/**
 * The clients that are tested, unmodified, against each version of this service: how a user configures each one, and what to
 * expect. The dashboard shows these snippets, docs/clients.md is generated from them, and test/clients installs these versions and runs
 * the snippets.
 */
export interface KnownClient {
  /** Also the name with which the suite runs only this client. */
  readonly id: string
  readonly name: string
  readonly registry: 'npm' | 'pypi' | 'go'
  /** Exact versions; the client itself comes first. */
  readonly packages: Readonly<Record<string, string>>
  /** The setup, for an environment in which PATCHBAY_URL and INFERENCE_KEY are set. */
  readonly snippet: { readonly language: 'sh' | 'python' | 'js' | 'go'; readonly text: string }
  readonly expect: readonly string[]
}

const REAL_STATUS = 'A failure of a provider is its error with the real status; its own retries work.'

const AI_SDK = (model: string): string => `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const patchbay = createOpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const { text } = await generateText({ model: patchbay('${model}'), prompt: 'Hello!' })
console.log(text)
`

export const KNOWN_CLIENTS: readonly KnownClient[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    registry: 'npm',
    packages: { '@anthropic-ai/claude-code': '2.1.332' },
    snippet: {
      language: 'sh',
      text: `export ANTHROPIC_BASE_URL="$PATCHBAY_URL/api"
export ANTHROPIC_AUTH_TOKEN="$INFERENCE_KEY"
export ANTHROPIC_MODEL=anthropic/claude-opus-4.8
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
npx claude -p 'Hello!'
`,
    },
    expect: [
      'Every model and every preset, those of other vendors too (`ANTHROPIC_MODEL=openai/gpt-5.4`). Without ANTHROPIC_MODEL it asks for a model of its own choice, which is found by its name.',
      'Its sub-agents and titles ask for a small model by name; a preset of that name (`claude-haiku-4-5-20251001`) says which model they get.',
      'A rate limit is waited for and tried again; a conversation that is too long is compacted.',
    ],
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    registry: 'npm',
    packages: { '@openai/codex': '0.171.0' },
    snippet: {
      language: 'sh',
      text: `export CODEX_HOME="$PWD/.codex"
mkdir -p "$CODEX_HOME"
cat > "$CODEX_HOME/config.toml" <<END
model = "gpt-5.4"
model_provider = "patchbay"

[model_providers.patchbay]
name = "Patchbay"
base_url = "$PATCHBAY_URL/api/v1"
env_key = "INFERENCE_KEY"
wire_api = "responses"
END
npx codex exec --skip-git-repo-check 'Hello!' </dev/null
`,
    },
    expect: [
      'Every model, with MCP servers and sub-agents. Of a model that it does not know it says so, and goes on.',
      'Give the provider any name but `OpenAI`: for one of that name Codex asks the server to summarise a long conversation, which only a provider that speaks Responses can do (a 400 elsewhere; `/responses/compact` is a 404). For every other name it summarises by itself, with any model.',
      'It retries what fails before the first content; `request_max_retries` and `stream_max_retries` of the provider say how often.',
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    registry: 'npm',
    packages: { 'opencode-ai': '1.18.33' },
    snippet: {
      language: 'sh',
      text: `cat > opencode.json <<END
{
  "\\$schema": "https://opencode.ai/config.json",
  "provider": {
    "patchbay": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Patchbay",
      "options": { "baseURL": "$PATCHBAY_URL/api/v1", "apiKey": "{env:INFERENCE_KEY}" },
      "models": { "anthropic/claude-opus-4.8": {}, "openai/gpt-5.4": {} }
    }
  }
}
END
npx opencode run -m patchbay/anthropic/claude-opus-4.8 'Hello!'
`,
    },
    expect: [
      'Every model; also with the packages @ai-sdk/anthropic (Messages) and @ai-sdk/openai (Responses).',
      'It waits and tries again after a 429 or a 5xx for as long as it takes, and shows what else fails.',
      'By Responses, where a conversation that is too long is an answer that was cut short, it shows nothing for it; by the other two it shows the sentence.',
    ],
  },
  {
    id: 'aider',
    name: 'aider',
    registry: 'pypi',
    packages: { 'aider-chat': '0.86.2' },
    snippet: {
      language: 'sh',
      text: `export OPENAI_API_BASE="$PATCHBAY_URL/api/v1"
export OPENAI_API_KEY="$INFERENCE_KEY"
aider --model openai/anthropic/claude-opus-4.8 --no-git --yes-always --no-check-update --message 'Hello!'
`,
    },
    expect: [
      'The prefix openai/ is for its own library and stays in front of the whole id.',
      'It tries a failure again for a minute or two, a refused key too, before it says why.',
    ],
  },
  {
    id: 'openai-python',
    name: 'OpenAI SDK for Python',
    registry: 'pypi',
    packages: { openai: '3.57.0' },
    snippet: {
      language: 'python',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
answer = client.chat.completions.create(model="gpt-5.4", messages=[{"role": "user", "content": "Hello!"}])
print(answer.choices[0].message.content)
`,
    },
    expect: ['Chat Completions and Responses, on every model.', REAL_STATUS],
  },
  {
    id: 'anthropic-python',
    name: 'Anthropic SDK for Python',
    registry: 'pypi',
    packages: { anthropic: '2.14.0' },
    snippet: {
      language: 'python',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url=os.environ["PATCHBAY_URL"] + "/api", api_key=os.environ["INFERENCE_KEY"])
message = client.messages.create(model="claude-opus-4-8", max_tokens=500, messages=[{"role": "user", "content": "Hello!"}])
print("".join(block.text for block in message.content if block.type == "text"))
`,
    },
    expect: ['Messages and its tool runner, on every model. The base URL has no /v1: the client adds it.', REAL_STATUS],
  },
  {
    id: 'openai-node',
    name: 'OpenAI SDK for JavaScript',
    registry: 'npm',
    packages: { openai: '7.59.0' },
    snippet: {
      language: 'js',
      text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const answer = await client.chat.completions.create({ model: 'gpt-5.4', messages: [{ role: 'user', content: 'Hello!' }] })
console.log(answer.choices[0].message.content)
`,
    },
    expect: ['Chat Completions and Responses, on every model.', REAL_STATUS],
  },
  {
    id: 'anthropic-node',
    name: 'Anthropic SDK for JavaScript',
    registry: 'npm',
    packages: { '@anthropic-ai/sdk': '1.14.0' },
    snippet: {
      language: 'js',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: \`\${process.env.PATCHBAY_URL}/api\`, authToken: process.env.INFERENCE_KEY })
const answer = await client.messages.create({ model: 'claude-opus-4-8', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello!' }] })
console.log(answer.content.map((part) => part.text ?? '').join(''))
`,
    },
    expect: ['Messages and its tool runner, on every model. The base URL has no /v1: the client adds it.', REAL_STATUS],
  },
  {
    id: 'langchain',
    name: 'LangChain for Python',
    registry: 'pypi',
    packages: { 'langchain-openai': '1.7.4', 'langchain-anthropic': '1.7.10' },
    snippet: {
      language: 'python',
      text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="anthropic/claude-opus-4.8", base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
print(model.invoke("Hello!").text)
`,
    },
    expect: ['ChatOpenAI (also with use_responses_api) and ChatAnthropic, on every model.', REAL_STATUS],
  },
  {
    id: 'pydantic-ai',
    name: 'Pydantic AI',
    registry: 'pypi',
    packages: { 'pydantic-ai-slim[openai,anthropic]': '2.68.0' },
    snippet: {
      language: 'python',
      text: `import os
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
print(Agent(OpenAIChatModel("gpt-5.4", provider=provider)).run_sync("Hello!").output)
`,
    },
    expect: ['The chat, Responses and Anthropic models, each on every model.', REAL_STATUS],
  },
  {
    id: 'litellm',
    name: 'LiteLLM',
    registry: 'pypi',
    packages: { litellm: '1.110.2', tenacity: '9.2.1' },
    snippet: {
      language: 'python',
      text: `import os
import litellm

answer = litellm.completion(
    model="openai/gpt-5.4",  # the first part is LiteLLM's own: it says which API to speak
    api_base=os.environ["PATCHBAY_URL"] + "/api/v1",
    api_key=os.environ["INFERENCE_KEY"],
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)
`,
    },
    expect: [
      'The prefix openai/ speaks Chat Completions, anthropic/ Messages (with a base URL that ends in /api). A whole id follows it: openai/anthropic/claude-opus-4.8.',
      REAL_STATUS,
    ],
  },
  {
    id: 'openai-agents',
    name: 'OpenAI Agents SDK for Python',
    registry: 'pypi',
    packages: { 'openai-agents': '0.24.0' },
    snippet: {
      language: 'python',
      text: `import os
from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)  # traces go to OpenAI, with the key of this service
client = AsyncOpenAI(base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
agent = Agent(name="hello", model=OpenAIResponsesModel(model="anthropic/claude-opus-4.8", openai_client=client))
print(Runner.run_sync(agent, "Hello!").final_output)
`,
    },
    expect: ['Responses or Chat Completions, on every model.', REAL_STATUS],
  },
  {
    id: 'openai-agents-js',
    name: 'OpenAI Agents SDK for JavaScript',
    registry: 'npm',
    packages: { '@openai/agents': '0.20.0', openai: '7.59.0', zod: '4.6.7' },
    snippet: {
      language: 'js',
      text: `import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from '@openai/agents'
import OpenAI from 'openai'

setTracingDisabled(true) // traces go to OpenAI, with the key of this service
const client = new OpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const agent = new Agent({ name: 'hello', model: new OpenAIResponsesModel(client, 'anthropic/claude-opus-4.8') })
console.log((await run(agent, 'Hello!')).finalOutput)
`,
    },
    expect: ['Responses or Chat Completions, on every model. Its WebSocket transport, which is off by itself, gets a 426.', REAL_STATUS],
  },
  {
    id: 'ai-7',
    name: 'Vercel AI SDK 7',
    registry: 'npm',
    packages: {
      ai: '7.0.173',
      '@ai-sdk/openai': '4.0.118',
      '@ai-sdk/anthropic': '4.0.105',
      '@ai-sdk/openai-compatible': '3.0.92',
      '@openrouter/ai-sdk-provider': '3.1.0',
      zod: '4.6.7',
    },
    snippet: { language: 'js', text: AI_SDK('gpt-5.4') },
    expect: [
      'The providers of OpenAI (Responses, and chat), Anthropic, OpenAI-compatible and OpenRouter.',
      'By Responses it asks a model with a prefix in its id for thinking, and sends the thinking back, only with `providerOptions: { openai: { forceReasoning: true, store: false } }`.',
      REAL_STATUS,
    ],
  },
  {
    id: 'ai-6',
    name: 'Vercel AI SDK 6',
    registry: 'npm',
    packages: {
      ai: '6.0.326',
      '@ai-sdk/openai': '3.0.141',
      '@ai-sdk/anthropic': '3.0.138',
      '@ai-sdk/openai-compatible': '2.0.91',
      '@openrouter/ai-sdk-provider': '2.10.0',
      zod: '4.6.7',
    },
    snippet: { language: 'js', text: AI_SDK('anthropic/claude-opus-4.8') },
    expect: ['As version 7.', REAL_STATUS],
  },
  {
    id: 'ai-5',
    name: 'Vercel AI SDK 5',
    registry: 'npm',
    packages: {
      ai: '5.0.277',
      '@ai-sdk/openai': '2.0.130',
      '@ai-sdk/anthropic': '2.0.112',
      '@ai-sdk/openai-compatible': '1.0.61',
      '@openrouter/ai-sdk-provider': '1.5.4',
      zod: '4.6.7',
    },
    snippet: { language: 'js', text: AI_SDK('deepseek/deepseek-v4-pro') },
    expect: [
      'The providers of version 7, without `forceReasoning`. With tools, Responses needs `providerOptions: { openai: { store: false } }`: without it the client refers to stored calls, and the model reads only their results.',
      'Its providers of OpenAI and OpenAI-compatible read no failure in the middle of a stream: the text so far ends with the `finishReason` `unknown`.',
      REAL_STATUS,
    ],
  },
  {
    id: 'openrouter-sdk',
    name: 'OpenRouter SDK',
    registry: 'npm',
    packages: { '@openrouter/sdk': '1.3.19' },
    snippet: {
      language: 'js',
      text: `import { OpenRouter } from '@openrouter/sdk'

const client = new OpenRouter({ serverURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const answer = await client.chat.send({ chatRequest: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Hello!' }] } })
console.log(answer.choices[0].message.content)
`,
    },
    expect: ['Chat, presets, keys, guardrails, models and generations.', REAL_STATUS],
  },
  {
    id: 'langchain-js',
    name: 'LangChain for JavaScript',
    registry: 'npm',
    packages: { '@langchain/openai': '1.6.0', '@langchain/anthropic': '1.5.11', '@langchain/core': '1.4.0' },
    snippet: {
      language: 'js',
      text: `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: 'anthropic/claude-opus-4.8',
  apiKey: process.env.INFERENCE_KEY,
  configuration: { baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\` },
})
console.log((await model.invoke('Hello!')).text)
`,
    },
    expect: [
      'ChatOpenAI (also with useResponsesApi) and ChatAnthropic, on every model.',
      'With useResponsesApi it does not read `response.failed`: if a provider fails in the middle of a stream, the text so far looks like the whole answer. On Chat Completions it raises the error.',
      REAL_STATUS,
    ],
  },
  {
    id: 'openai-go',
    name: 'OpenAI SDK for Go',
    registry: 'go',
    packages: { 'github.com/openai/openai-go/v3': '3.99.0' },
    snippet: {
      language: 'go',
      text: `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(option.WithBaseURL(os.Getenv("PATCHBAY_URL")+"/api/v1"), option.WithAPIKey(os.Getenv("INFERENCE_KEY")))
	answer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:    "anthropic/claude-opus-4.8",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello!")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Choices[0].Message.Content)
}
`,
    },
    expect: ['Chat Completions and Responses, on every model.', REAL_STATUS],
  },
  {
    id: 'anthropic-sdk-go',
    name: 'Anthropic SDK for Go',
    registry: 'go',
    packages: { 'github.com/anthropics/anthropic-sdk-go/v2': '2.15.0' },
    snippet: {
      language: 'go',
      text: `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func main() {
	client := anthropic.NewClient(option.WithBaseURL(os.Getenv("PATCHBAY_URL")+"/api"), option.WithAPIKey(os.Getenv("INFERENCE_KEY")))
	message, err := client.Messages.New(context.Background(), anthropic.MessageNewParams{
		Model:     "claude-opus-4-8",
		MaxTokens: 500,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello!"))},
	})
	if err != nil {
		panic(err)
	}
	for _, block := range message.Content {
		fmt.Print(block.Text)
	}
	fmt.Println()
}
`,
    },
    expect: ['Messages, on every model. The base URL has no /v1: the client adds it.', REAL_STATUS],
  },
]
