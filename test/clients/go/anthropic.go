package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func askMessages(one testCase, given setting) (string, error) {
	options := []option.RequestOption{option.WithBaseURL(given.Host), option.WithAPIKey(one.Key), option.WithMaxRetries(one.Retries)}
	if one.Settings {
		options = append(options, option.WithJSONSet("temperature", 0.2))
	}
	client := anthropic.NewClient(options...)
	request := anthropic.MessageNewParams{
		Model:     anthropic.Model(one.Model),
		MaxTokens: 500,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(one.Prompt))},
	}
	if one.Tools {
		for _, tool := range tools {
			schema := anthropic.ToolInputSchemaParam{Properties: tool.schema()["properties"], Required: []string{tool.parameter}}
			request.Tools = append(request.Tools, anthropic.ToolUnionParamOfTool(schema, tool.name))
		}
	}
	for range turnsMax {
		message, err := messageOf(client, request, one.Stream)
		if err != nil {
			return "", err
		}
		text := ""
		results := []anthropic.ContentBlockParamUnion{}
		for _, block := range message.Content {
			switch block.Type {
			case "text":
				text += block.Text
			case "tool_use":
				results = append(results, anthropic.NewToolResultBlock(block.ID, runTool(block.Name, block.Input), false))
			}
		}
		if len(results) == 0 {
			return text, nil
		}
		request.Messages = append(request.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return "", errEndless
}

func messageOf(client anthropic.Client, request anthropic.MessageNewParams, stream bool) (anthropic.Message, error) {
	if !stream {
		message, err := client.Messages.New(context.Background(), request)
		if err != nil {
			return anthropic.Message{}, err
		}
		return *message, nil
	}
	events := client.Messages.NewStreaming(context.Background(), request)
	whole := anthropic.Message{}
	for events.Next() {
		if err := whole.Accumulate(events.Current()); err != nil {
			return whole, err
		}
	}
	return whole, events.Err()
}
