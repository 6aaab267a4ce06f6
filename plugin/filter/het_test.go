package filter

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A heterogeneous job is refused before anything is planned. The boxes are those that Slurm 22.05
// and 24.11 were seen to make of the first component.
func TestHeterogeneous(t *testing.T) {
	scripts := map[string]string{
		"/w/job.sh":  "#!/bin/bash\n#SBATCH -N1\n# hetjob\ntrue\n#SBATCH hetjob\n",
		"/w/het.sh":  "#!/bin/bash\n\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\ntrue\n",
		"/w/pack.sh": "#!/bin/bash\n#SLURM  PackJob\n",
		"/w/note.sh": "#!/bin/bash\n#SBATCH --comment=hetjob\n",
	}
	for line, test := range map[string]struct{ argv, want string }{
		"sbatch -N1 : -N2 job.sh a":         {`"/w/job.sh","a"`, `":" on the command line: a reservation is of one job`},
		"sbatch -N 1 : job.sh":              {`"/w/job.sh"`, `":" on the command line`},
		"sbatch -N1 : -N2 --wrap=true":      {``, `":" on the command line`},
		"sbatch job.sh : x":                 {`"/w/job.sh","x"`, ""},
		"sbatch -N1 job.sh a : x :":         {`"/w/job.sh","a","x"`, ""},
		"sbatch -N1 job.sh":                 {`"/w/job.sh"`, ""},
		"sbatch note.sh":                    {`"/w/note.sh"`, ""},
		"sbatch gone.sh":                    {`"/w/gone.sh"`, ""},
		"sbatch het.sh":                     {`"/w/het.sh"`, "/w/het.sh:4: a reservation is of one job"},
		"sbatch pack.sh a":                  {`"/w/pack.sh","a"`, "/w/pack.sh:2: "},
		"sbatch":                            {``, ""},
		"srun -N1 hostname : -N2 true":      {`"hostname"`, `":" on the command line`},
		"srun -N1 sh -c :":                  {`"sh","-c"`, `":" on the command line`},
		"srun -N1 echo :":                   {`"echo"`, `":" on the command line`},
		"srun -N1 echo a b : c":             {`"echo","a","b"`, `":" on the command line`},
		"srun -N1 echo a:b":                 {`"echo","a:b"`, ""},
		"srun /w/het.sh":                    {`"/w/het.sh"`, ""},
		"salloc -N1 : -N2 true":             {``, `":" on the command line`},
		"salloc -N1 sh -c :":                {`"sh","-c",":"`, ""},
		"salloc -N1 sh":                     {`"sh"`, ""},
		"srun -N1 sh -c true : -N2 env a b": {`"sh","-c","true"`, `":" on the command line`},
	} {
		words := strings.Fields(line)
		var v fakeVarqd
		box := `{"spank:begin-by":"now+1hour","argv":[` + test.argv + "]}\x00" + strings.Join(words, "\x00") + "\x00"
		h := Helper{Script: func(path string) ([]byte, error) {
			if text, found := scripts[path]; found {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}}
		err := h.whole([]byte(box), words[0])
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", line, err, test.want)
		}
		if test.want != "" {
			c := helped(t, &v, words[0], box)
			c.orders.Close()
			c.want(t, &v)
			if !strings.HasPrefix(c.answer, "refuse ") {
				t.Errorf("%s: answered %q", line, c.answer)
			}
		}
	}
	h := Helper{Script: func(string) ([]byte, error) { return nil, errors.New("never") }}
	if err := h.whole([]byte("[]"), "sbatch"); err != nil {
		t.Error(err)
	}
}

// FuzzHetLine holds the number against the line that it names.
func FuzzHetLine(f *testing.F) {
	f.Add("#!/bin/sh\n#SBATCH hetjob\n")
	f.Add("#SBATCH\n\n#SLURM packjob x\n")
	f.Fuzz(func(t *testing.T, script string) {
		n := hetLine([]byte(script))
		if n == 0 {
			return
		}
		if line := strings.ToLower(strings.Split(script, "\n")[n-1]); !strings.HasPrefix(line, "#s") || !strings.Contains(line, "job") {
			t.Errorf("line %d of %q: %q", n, script, line)
		}
	})
}
