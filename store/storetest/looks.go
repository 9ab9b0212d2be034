package storetest

var lookTests = []test{
	{name: "looks", reopens: true, run: func(b *bench) {
		for want := 1; want <= 2; want++ {
			b.equal("looks", must(b.AddLook(b.Context(), "run_1", "a"))(b), want)
		}
		b.equal("of another assertion", must(b.AddLook(b.Context(), "run_1", "b"))(b), 1)
		b.reopen()
		b.equal("later", must(b.CountLooks(b.Context(), "run_1", "a"))(b), 2)
		b.equal("of none", must(b.CountLooks(b.Context(), "run_2", "a"))(b), 0)
	}},
}
