package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// Group is a group of promises whose home is this site. Times are Unix seconds.
type Group struct {
	ID, Kind, User string
	Deadline       int64
	Registered     int64
	// Prob is the promised probability. Independent and Joint are as in api.GroupQuote. Estimate is
	// its Prob.
	Prob                         float64
	Independent, Joint, Estimate float64
	// Decided is when the group was decided, or 0.
	Decided int64
	// Go is when the work of all parts begins, for a group of the kind api.GroupAll.
	Go int64
	// Lost is the reason why the group was given up, or "".
	Lost    string
	Members []Member
}

// Member is a member of a Group.
type Member struct {
	api.GroupMember
	Asked int64 // when its job has last asked whether its work may begin, or 0
	Won   bool  // its work runs
	// Withdrawn is true if the member's job was cancelled before the group was decided. It is also
	// true if the job was to begin together with others, and was cancelled before that.
	Withdrawn bool
	// Held is true if the member's user had kept the job from starting until the group's deadline
	// passed.
	Held bool
	// Vouched is true once the member's site has confirmed what the group says of the member.
	// Without this check anybody could register a group of jobs that do not exist.
	Vouched bool
}

// Vouched reports whether sites have vouched for some members of the group, so that there are jobs,
// and whether for all.
func (g *Group) Vouched() (some, all bool) {
	all = true
	for i := range g.Members {
		some, all = some || g.Members[i].Vouched, all && g.Members[i].Vouched
	}
	return some, all
}

// Parts returns the parts of the group. A part has the positions of its members, in order. The work
// of one member of a part runs.
func (g *Group) Parts() (parts [][]int) {
	at := map[int]int{} // by part
	for i := range g.Members {
		part := g.Members[i].Part
		known, ok := at[part]
		switch {
		case g.Kind == api.GroupAny && i > 0:
			known = 0
		case g.Kind == api.GroupAny, part == 0, !ok:
			at[part] = len(parts)
			parts = append(parts, []int{i})
			continue
		}
		parts[known] = append(parts[known], i)
	}
	return parts
}

// The errors about groups.
var (
	ErrNoGroup     = errors.New("no such group")
	ErrGroupTaken  = errors.New("the group is there already, and is another one")
	ErrTooMany     = errors.New("too many open groups")
	ErrNotOfGroup  = errors.New("the promise is none of this group")
	ErrGroupBegins = errors.New("the work of the group has begun, or is about to")
)

func groupColumns(g *Group) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "id", Pointer: &g.ID},
		{Name: "kind", Pointer: &g.Kind},
		{Name: "user", Pointer: &g.User},
		{Name: "deadline", Pointer: &g.Deadline},
		{Name: "registered_at", Pointer: &g.Registered},
		{Name: "independent", Pointer: &g.Independent},
		{Name: "joint", Pointer: &g.Joint},
		{Name: "prob", Pointer: &g.Prob},
		{Name: "decided", Pointer: &g.Decided},
		{Name: "go", Pointer: &g.Go},
		{Name: "lost", Pointer: &g.Lost},
		{Name: "estimate", Pointer: &g.Estimate},
	}
}

func memberColumns(m *Member) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "site", Pointer: &m.Site},
		{Name: "partition", Pointer: &m.Partition},
		{Name: "part", Pointer: &m.Part},
		{Name: "plan", Pointer: &m.Plan},
		{Name: "job", Pointer: &m.Job},
		{Name: "prob", Pointer: &m.Prob},
		{Name: "asked", Pointer: &m.Asked},
		{Name: "won", Pointer: &m.Won},
		{Name: "withdrawn", Pointer: &m.Withdrawn},
		{Name: "held", Pointer: &m.Held},
		{Name: "vouched", Pointer: &m.Vouched},
	}
}

// Register writes a group that is not decided. To register the same group again changes nothing. If
// Register returns nil, the group survives a power cut. The errors are ErrGroupTaken, ErrTooMany,
// and errors of the file. For ErrTooMany, a group whose deadline was more than a day ago does not
// count as open.
func (l *Ledger) Register(ctx context.Context, g *Group) error {
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		known, err := readGroups(ctx, tx, "id = ?", g.ID)
		if err != nil {
			return err
		}
		if len(known) > 0 {
			if !known[0].same(g) {
				return ErrGroupTaken
			}
			return nil
		}
		var open int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM groups WHERE user = ? AND decided = 0 AND deadline > ?`, g.User, g.Registered-86400).Scan(&open); err != nil {
			return err
		}
		if open >= api.MaxGroups {
			return ErrTooMany
		}
		columns := groupColumns(g)
		if _, err := tx.ExecContext(ctx, columns.Insert("groups"), columns.Pointers()...); err != nil {
			return err
		}
		for i := range g.Members {
			columns := append(sqlitefile.Columns{{Name: "group_id", Pointer: &g.ID}, {Name: "position", Pointer: &i}}, memberColumns(&g.Members[i])...)
			if _, err := tx.ExecContext(ctx, columns.Insert("group_members"), columns.Pointers()...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: register group %s: %w", g.ID, err)
	}
	return nil
}

// same reports whether h asks for the same as g.
func (g *Group) same(h *Group) bool {
	return g.Kind == h.Kind && g.User == h.User && g.Deadline == h.Deadline && slices.EqualFunc(g.Members, h.Members, func(a, b Member) bool {
		return a.GroupMember == b.GroupMember
	})
}

// Groups returns the groups with these identifiers, in the same order. Unknown ones are left out.
func (l *Ledger) Groups(ctx context.Context, ids ...string) ([]Group, error) {
	var list []Group
	for _, id := range ids {
		found, err := readGroups(ctx, l.db, "id = ?", id)
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		list = append(list, found...)
	}
	return list, nil
}

// GroupsOf returns the groups of a user, or of all users if user is empty, whose deadline lies in
// [start, end), Unix seconds. 0 means no bound.
func (l *Ledger) GroupsOf(ctx context.Context, user string, start, end int64) ([]Group, error) {
	list, err := readGroups(ctx, l.db, "(? = '' OR user = ?) AND deadline >= ? AND (? = 0 OR deadline < ?)", user, user, start, end, end)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return list, nil
}

// Unlearnt returns the groups whose outcome has not been learnt from, if they are decided or their
// deadline is before a time.
func (l *Ledger) Unlearnt(ctx context.Context, before int64) ([]Group, error) {
	list, err := readGroups(ctx, l.db, "learnt = 0 AND (decided <> 0 OR deadline < ?)", before)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return list, nil
}

// Decide changes the decision about a group in one transaction. change sees the group as it is. It
// may set Decided, Go and Lost, and the members' Asked, Won, Withdrawn, Held and Vouched. If change
// returns an error, nothing is changed. The group that Decide returns is on disk. The errors are
// ErrNoGroup, the error of change, and errors of the file.
func (l *Ledger) Decide(ctx context.Context, id string, change func(*Group) error) (g Group, err error) {
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		found, err := readGroups(ctx, tx, "id = ?", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ErrNoGroup
		}
		g = found[0]
		g.Members = slices.Clone(g.Members)
		if err := change(&g); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE groups SET decided = ?, go = ?, lost = ? WHERE id = ?`, g.Decided, g.Go, g.Lost, id); err != nil {
			return err
		}
		for i, m := range g.Members {
			if m == found[0].Members[i] {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE group_members SET asked = ?, won = ?, withdrawn = ?, held = ?, vouched = ? WHERE group_id = ? AND plan = ?`,
				m.Asked, m.Won, m.Withdrawn, m.Held, m.Vouched, id, m.Plan); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Group{}, fmt.Errorf("ledger: group %s: %w", id, err)
	}
	return g, nil
}

// readGroups returns groups with their members, ordered by identifier.
func readGroups(ctx context.Context, from sqlitefile.Reader, where string, args ...any) (list []Group, err error) {
	var g Group
	columns := groupColumns(&g)
	into := columns.Pointers()
	err = sqlitefile.Each(ctx, from, "SELECT "+columns.Names()+" FROM groups WHERE "+where, args, func(rows *sql.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		list = append(list, g)
		return nil
	})
	for i := range list {
		if err != nil {
			break
		}
		var m Member
		columns := memberColumns(&m)
		into := columns.Pointers()
		err = sqlitefile.Each(ctx, from, "SELECT "+columns.Names()+" FROM group_members WHERE group_id = ? ORDER BY position", []any{list[i].ID}, func(rows *sql.Rows) error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			list[i].Members = append(list[i].Members, m)
			return nil
		})
	}
	slices.SortFunc(list, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

// Joint returns the state that SetLearnt has written last, or nil.
func (l *Ledger) Joint(ctx context.Context) (state []byte, err error) {
	err = l.each(ctx, `SELECT state FROM joint`, nil, func(rows *sql.Rows) error { return rows.Scan(&state) })
	return state, err
}

// SetLearnt writes in one transaction what has been learnt from groups, and which groups' outcomes
// that includes.
func (l *Ledger) SetLearnt(ctx context.Context, state []byte, groups ...string) error {
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		for _, id := range groups {
			if _, err := tx.ExecContext(ctx, `UPDATE groups SET learnt = 1 WHERE id = ?`, id); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO joint (id, state) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state`, string(state))
		return err
	})
	if err != nil {
		return fmt.Errorf("ledger: what groups have come to: %w", err)
	}
	return nil
}
