package slurm

import "testing"

func TestCountTasks(t *testing.T) {
	for list, want := range map[string][2]int32{
		"":               {1, 0},
		"3":              {1, 0},
		"1-10000":        {10_000, 0},
		"1-10000%50":     {10_000, 50},
		"1-9,20-29,40":   {20, 0},
		"1-1000:3":       {334, 0},
		"0-100:4,200%1":  {27, 1},
		"1-9,20-29,...":  {19, 0}, // shortened by slurmrestd
		"1-9,30,...%7":   {10, 7},
		"...":            {1, 0},
		"0x3FFF":         {1, 0},
		"9-1":            {1, 0},
		"1-9:0":          {1, 0},
		"-5":             {1, 0},
		"1-5%-3":         {5, 0},
		"1-5%":           {5, 0},
		"0-2147483647":   {MaxTasks, 0},
		"0-9,0-99999999": {MaxTasks, 0},
		"1,1,1":          {1, 0}, // as a user may write
		"0-3,2-5%2":      {6, 2},
		"0-10:2,5-7":     {8, 0},
	} {
		if tasks, atOnce := CountTasks(list); tasks != want[0] || atOnce != want[1] {
			t.Errorf("%q: %d tasks, %d at once, want %v", list, tasks, atOnce, want)
		}
	}
}

func FuzzCountTasks(f *testing.F) {
	for _, s := range []string{"", "1-10000%50", "1-9,20-29,...%7", "0-100:4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if tasks, atOnce := CountTasks(list); tasks < 1 || tasks > MaxTasks || atOnce < 0 {
			t.Errorf("%q: %d tasks, %d at once", list, tasks, atOnce)
		}
	})
}

func TestIsTasks(t *testing.T) {
	for list, want := range map[string]bool{
		"3": true, "0-39%8": true, "1,3,5-9:2": true, "abc": false, "": false, "0-39%": false, "0-39%0": true, "0-39%-1": false, "9-1": false, "1,,2": false, "1-9:0": false, "-1": false,
	} {
		if got := IsTasks(list); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
}

func TestCommonTasks(t *testing.T) {
	for _, v := range []struct {
		list, other, want string
		before, through   int32
	}{
		{"0-9%2", "6", "6", 6, 7},
		{"0-9", "3-7", "3-7", 3, 8},
		{"0-9", "3,9", "3,9", 3, 10},
		{"0-9", "9,3", "9,3", 3, 10},
		{"1-4,8,20-29", "3-21", "3-4,8,20-21", 2, 7},
		{"0-100:4", "0-20:10", "0-20:20", 0, 6},
		{"0-100:4", "2-100:4", "", 0, 0},
		{"0-100:4", "9-11", "", 0, 0},
		{"0-9", "10", "", 0, 0},
		{"7", "3-9%2", "7", 0, 1},
		{"", "3", "", 0, 0},
		{"0-9", "x", "", 0, 0},
		{"0-4000000", "0-2147483647:2147483647,17", "0,17", 0, 18},
	} {
		if common, before, through := CommonTasks(v.list, v.other); common != v.want || before != v.before || through != v.through {
			t.Errorf("%s of %s: %q, %d before it, %d through, want %+v", v.other, v.list, common, before, through, v)
		}
	}
}

// The common tasks are those that each of the lists names.
func FuzzCommonTasks(f *testing.F) {
	f.Add("0-9,20-90:3%2", "5-30:2,40")
	names := func(list string, task int64) bool {
		for _, r := range rangesOf(list) {
			if task >= r.from && task <= r.to && (task-r.from)%r.by == 0 {
				return true
			}
		}
		return false
	}
	f.Fuzz(func(t *testing.T, list, other string) {
		common, before, through := CommonTasks(list, other)
		if before < 0 || before > through || (common == "") != (through == 0) {
			t.Errorf("%q of %q: %q, %d before it, %d through", other, list, common, before, through)
		}
		for task := range int64(200) {
			if names(common, task) != (names(list, task) && names(other, task)) {
				t.Errorf("%q of %q: %q, and task %d", other, list, common, task)
			}
		}
	})
}
