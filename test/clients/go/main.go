// The side of the Go drivers that speaks to the suite: cases on stdin, a line for each outcome on stdout.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

type setting struct {
	API   string     `json:"api"`
	Host  string     `json:"host"`
	Cases []testCase `json:"cases"`
}

type testCase struct {
	ID       string `json:"id"`
	Way      string `json:"way"`
	Model    string `json:"model"`
	Prompt   string `json:"prompt"`
	Stream   bool   `json:"stream"`
	Tools    bool   `json:"tools"`
	Settings bool   `json:"settings"`
	Key      string `json:"key"`
	Retries  int    `json:"retries"`
}

type toolOfSuite struct {
	name, parameter, description, result string
}

var tools = []toolOfSuite{
	{"get_weather", "city", "Weather of a city.", "Weather in %s: mild"},
	{"get_time", "zone", "Time in a zone.", "Time in %s: noon"},
}

func (t toolOfSuite) schema() map[string]any {
	return map[string]any{
		"type":       "object",
		"properties": map[string]any{t.parameter: map[string]any{"type": "string"}},
		"required":   []string{t.parameter},
	}
}

func runTool(name string, arguments []byte) string {
	var given map[string]string
	if err := json.Unmarshal(arguments, &given); err != nil {
		return err.Error()
	}
	for _, one := range tools {
		if one.name == name {
			return fmt.Sprintf(one.result, given[one.parameter])
		}
	}
	return "no tool " + name
}

const turnsMax = 5

var errEndless = errors.New("the loop does not end")

// ask returns the last text of the model, or the library's error.
var ask = map[string]func(testCase, setting) (string, error){
	"chat":      askChat,
	"responses": askResponses,
	"messages":  askMessages,
}

func main() {
	var given setting
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	for _, one := range given.Cases {
		outcome := map[string]string{"id": one.ID}
		text, err := ask[one.Way](one, given)
		if err != nil {
			outcome["error"] = err.Error()
		} else {
			outcome["text"] = text
		}
		line, _ := json.Marshal(outcome)
		fmt.Println("OUTCOME " + string(line))
	}
}
