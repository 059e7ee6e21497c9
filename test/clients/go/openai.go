package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

func openaiClient(one testCase, given setting) openai.Client {
	return openai.NewClient(option.WithBaseURL(given.API), option.WithAPIKey(one.Key), option.WithMaxRetries(one.Retries))
}

// withReason adds what a program reads from the error's fields: its text has only the status.
func withReason(err error) error {
	var refused *openai.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("%w: %s", err, refused.Message)
	}
	return err
}

func askChat(one testCase, given setting) (string, error) {
	client := openaiClient(one, given)
	request := openai.ChatCompletionNewParams{
		Model:    one.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(one.Prompt)},
	}
	if one.Settings {
		request.Temperature = param.NewOpt(0.2)
		request.MaxTokens = param.NewOpt[int64](500)
	}
	if one.Tools {
		for _, tool := range tools {
			request.Tools = append(request.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name: tool.name, Description: param.NewOpt(tool.description), Parameters: tool.schema(),
			}))
		}
	}
	for range turnsMax {
		message, err := chatMessage(client, request, one.Stream)
		if err != nil || len(message.ToolCalls) == 0 {
			return message.Content, withReason(err)
		}
		request.Messages = append(request.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			request.Messages = append(request.Messages, openai.ToolMessage(runTool(call.Function.Name, []byte(call.Function.Arguments)), call.ID))
		}
	}
	return "", errEndless
}

func chatMessage(client openai.Client, request openai.ChatCompletionNewParams, stream bool) (openai.ChatCompletionMessage, error) {
	if !stream {
		answer, err := client.Chat.Completions.New(context.Background(), request)
		if err != nil || len(answer.Choices) == 0 {
			return openai.ChatCompletionMessage{}, err
		}
		return answer.Choices[0].Message, nil
	}
	chunks := client.Chat.Completions.NewStreaming(context.Background(), request)
	whole := openai.ChatCompletionAccumulator{}
	for chunks.Next() {
		whole.AddChunk(chunks.Current())
	}
	if chunks.Err() != nil || len(whole.Choices) == 0 {
		return openai.ChatCompletionMessage{}, chunks.Err()
	}
	return whole.Choices[0].Message, nil
}

func askResponses(one testCase, given setting) (string, error) {
	client := openaiClient(one, given)
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(one.Prompt, responses.EasyInputMessageRoleUser)}
	request := responses.ResponseNewParams{Model: one.Model}
	if one.Settings {
		request.Temperature = param.NewOpt(0.2)
		request.MaxOutputTokens = param.NewOpt[int64](500)
	}
	if one.Tools {
		for _, tool := range tools {
			request.Tools = append(request.Tools, responses.ToolParamOfFunction(tool.name, tool.schema(), false))
		}
	}
	for range turnsMax {
		request.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
		answer, err := response(client, request, one.Stream)
		if err != nil {
			return "", withReason(err)
		}
		ended := true
		for _, item := range answer.Output {
			if item.Type == "function_call" {
				call := item.AsFunctionCall()
				output := responses.ResponseInputItemParamOfFunctionCallOutput(runTool(call.Name, []byte(call.Arguments)))
				output.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
				items = append(items, responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name), output)
				ended = false
			}
		}
		if ended {
			return answer.OutputText(), nil
		}
	}
	return "", errEndless
}

func response(client openai.Client, request responses.ResponseNewParams, stream bool) (responses.Response, error) {
	if !stream {
		answer, err := client.Responses.New(context.Background(), request)
		if err != nil {
			return responses.Response{}, err
		}
		return *answer, nil
	}
	events := client.Responses.NewStreaming(context.Background(), request)
	var last responses.Response
	for events.Next() {
		if event := events.Current(); event.Type == "response.completed" {
			last = event.AsResponseCompleted().Response
		}
	}
	return last, events.Err()
}
