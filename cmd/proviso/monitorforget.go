package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/client"
)

func newMonitorForget(a *app) *cobra.Command {
	f := &serverFlags{}
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
			u, err := f.address(a, "forget")
			if err != nil {
				return err
			}
			var n struct{ Events, Feedback, Verdicts *int }
			if err := a.client().JSON(cmd.Context(), http.MethodPost, u, map[string]string{"user": user}, &n); err != nil {
				return err
			}
			if n.Events == nil || n.Feedback == nil || n.Verdicts == nil {
				return client.NotOfServer(u)
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
	f.register(cmd.Flags())
	cmd.Flags().Lookup("project").Usage = "use this `PROJECT` (default that of the key)"
	return cmd
}
