package study

// Studies returns all studies by name.
func Studies() map[string]Study {
	return map[string]Study{
		"checkpoints": Checkpoints{}, "deadlines": Deadlines{}, "downey": Downey{}, "faults": Faults{}, "forecasters": Methods{}, "joint": Joint{}, "moldable": Moldable{}, "oliner": Oliner{}, "roblitz": Roblitz{}, "smith": Smith{}, "varq": VARQ{},
	}
}
