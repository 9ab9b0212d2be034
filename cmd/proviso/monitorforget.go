package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// forgetPath is the path for forgetting a user on a server.
const forgetPath = "/v1/forget"

func newMonitorForget(a *app) *cobra.Command {
	f := &datasetFlags{}
	var user string
	cmd := &cobra.Command{
		Use:   "forget --user USER",
		Short: "Remove the events and thumbs of a user from a server",
		Long: "forget removes what a server has of a user in its traffic: events with their texts, thumbs, and the\n" +
			"reasons of verdicts on these events. Counts and rates stay. USER is the name as agents send it; a server\n" +
			"whose rules hash it finds it all the same. Datasets and labels that people made of events stay.\n\n" +
			"--server or the environment variable " + serverVariable + " is the address of the server, and " + keyVariable + "\n" +
			"holds an API key with the scope admin. What is removed cannot be restored.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return usageError{errors.New("the user is missing"), "--user is the name as agents send it"}
			}
			u, err := a.datasetAddress(f, nil)
			if err != nil {
				return err
			}
			u.Path = u.Path[:len(u.Path)-len(datasetsPath)] + forgetPath
			body, err := json.Marshal(map[string]string{"user": user})
			if err != nil {
				return err
			}
			data, err := a.askDatasets(cmd.Context(), http.MethodPost, u, bytes.NewReader(body), "Content-Type", "application/json")
			if err != nil {
				return err
			}
			var n struct{ Events, Feedback, Verdicts *int }
			if err := json.Unmarshal(data, &n); err != nil || n.Events == nil || n.Feedback == nil || n.Verdicts == nil {
				return notOfServer(u)
			}
			if *n.Events+*n.Feedback+*n.Verdicts == 0 {
				_, err = fmt.Fprintf(a.out, "nothing was found of the user %s, so nothing was removed\n", printable(user))
				return err
			}
			_, err = fmt.Fprintf(a.out, "removed %s and %s, and the reasons of %s\n", plural(*n.Events, "event"), plural(*n.Feedback, "thumb"), plural(*n.Verdicts, "verdict"))
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "`USER` to be forgotten")
	cmd.Flags().StringVar(&f.server, "server", "", "`URL` of the server (default $"+serverVariable+")")
	cmd.Flags().StringVar(&f.project, "project", "", "use this `PROJECT` (default that of the key)")
	return cmd
}
